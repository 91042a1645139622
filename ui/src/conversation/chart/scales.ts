/** Scales from values to pixels, with ticks at round values. */

export interface Linear {
  (value: number): number;
  /** At about this many round values within the domain. */
  ticks: (most: number) => number[];
}

export interface Time {
  (time: Date): number;
  domain: [Date, Date];
  ticks: (most: number) => Date[];
}

/** Equal bands for the numbers from zero on, or for the given numbers in their order. */
export interface Bands {
  (at: number): number | undefined;
  step: number;
  width: number;
}

type Ends = [number, number];

/** `nice` widens the domain to round values, of which there are about so many. */
export function linear(domain: Ends, [from, to]: Ends, nice?: number): Linear {
  const [low, high] = nice === undefined ? domain : widened(domain, nice);
  const scale = (value: number) =>
    high === low ? (from + to) / 2 : from + ((value - low) / (high - low)) * (to - from);
  return Object.assign(scale, { ticks: (most: number) => roundValues([low, high], most) });
}

export function time([first, last]: [Date, Date], range: Ends): Time {
  const scale = linear([first.getTime(), last.getTime()], range);
  return Object.assign((at: Date) => scale(at.getTime()), {
    domain: [first, last] as [Date, Date],
    ticks: (most: number) => roundTimes([first.getTime(), last.getTime()], most),
  });
}

/** `padding` is the share of a step between two bands, and before the first and behind the last. */
export function bands(order: number[], [from, to]: Ends, padding: number): Bands {
  const step = (to - from) / Math.max(1, order.length + padding);
  const width = step * (1 - padding);
  const start = from + (to - from - step * (order.length - padding)) / 2;
  const rank = new Map(order.map((each, at) => [each, at]));
  const scale = (at: number) => {
    const place = rank.get(at);
    return place === undefined ? undefined : start + step * place;
  };
  return Object.assign(scale, { step, width });
}

/** A colour between two of the form #rrggbb: `share` is 0 for the first and 1 for the second. */
export function mixed(one: string, other: string, share: number): string {
  const parts = [1, 3, 5].map((at) => {
    const from = parseInt(one.slice(at, at + 2), 16);
    return Math.round(from + (parseInt(other.slice(at, at + 2), 16) - from) * share);
  });
  return `rgb(${parts.join(", ")})`;
}

/** The distance of about this many round values: 1, 2 or 5 times a power of ten. Given as a fraction, so that
 * multiples of it have no errors of rounding. */
function roundStep([low, high]: Ends, most: number): { times: number; over: number } {
  const step = (high - low) / most;
  const power = Math.floor(Math.log10(step));
  const rest = step / 10 ** power;
  const factor = rest >= Math.sqrt(50) ? 10 : rest >= Math.sqrt(10) ? 5 : rest >= Math.SQRT2 ? 2 : 1;
  return power < 0 ? { times: 1, over: 10 ** -power / factor } : { times: 10 ** power * factor, over: 1 };
}

function roundValues([low, high]: Ends, most: number): number[] {
  if (!(high > low)) return low === high ? [low] : [];
  const { times, over } = roundStep([low, high], most);
  const first = Math.ceil((low / times) * over - 1e-9);
  const last = Math.floor((high / times) * over + 1e-9);
  if (last < first && most < 2) return roundValues([low, high], most * 2);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => ((first + at) * times) / over);
}

function widened(domain: Ends, most: number): Ends {
  let [low, high] = domain;
  if (!(high > low)) return domain;
  let before = 0;
  for (let turn = 0; turn < 10; turn++) {
    const { times, over } = roundStep([low, high], most);
    if (times / over === before) break;
    before = times / over;
    low = (Math.floor((low / times) * over) * times) / over;
    high = (Math.ceil((high / times) * over) * times) / over;
  }
  return [low, high];
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTH = 30 * DAY;
const YEAR = 365 * DAY;

/** The steps of a time axis: their length (ms), and the first of them at or before a time. */
const STEPS: readonly [number, (time: Date) => Date][] = [
  ...[1, 5, 15, 30].map((count) => fixed(count * SECOND)),
  ...[1, 5, 15, 30].map((count) => fixed(count * MINUTE)),
  ...[1, 3, 6, 12].map((count) => fixed(count * HOUR)),
  fixed(DAY),
  [2 * DAY, (at) => utc(at.getUTCFullYear(), at.getUTCMonth(), odd(at.getUTCDate()))],
  [7 * DAY, (at) => utc(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() - at.getUTCDay())],
  [MONTH, (at) => utc(at.getUTCFullYear(), at.getUTCMonth(), 1)],
  [3 * MONTH, (at) => utc(at.getUTCFullYear(), at.getUTCMonth() - (at.getUTCMonth() % 3), 1)],
  [YEAR, (at) => utc(at.getUTCFullYear(), 0, 1)],
];

const odd = (day: number) => day - ((day - 1) % 2);
const utc = (year: number, month: number, day: number) =>
  new Date(new Date(0).setUTCFullYear(year, month, day)); // Date.UTC takes the year 25 for 1925

function fixed(length: number): [number, (time: Date) => Date] {
  return [length, (at) => new Date(Math.floor(at.getTime() / length) * length)];
}

function roundTimes([from, to]: Ends, most: number): Date[] {
  const wanted = (to - from) / most;
  if (!(wanted > 0)) return [new Date(from)];
  if (wanted < SECOND) return roundValues([from, to], most).map((each) => new Date(each));
  if (wanted > YEAR) return years([from, to], most);
  // Of the steps around the wanted length, the nearer one by their ratio.
  const above = STEPS.findIndex(([length]) => length > wanted);
  const at = above < 0 ? STEPS.length - 1 : above;
  const below = STEPS[at - 1];
  const chosen = below && wanted / below[0] < (STEPS[at]?.[0] ?? YEAR) / wanted ? below : STEPS[at];
  if (!chosen) return [];
  const [length, floor] = chosen;
  const ticks: Date[] = [];
  let tick = floor(new Date(from));
  while (tick.getTime() <= to) {
    if (tick.getTime() >= from) ticks.push(tick);
    // A time in the next step, also where steps are of unequal length.
    tick = floor(new Date(tick.getTime() + length * 1.2));
  }
  return ticks;
}

function years([from, to]: Ends, most: number): Date[] {
  const first = new Date(from).getUTCFullYear();
  const last = new Date(to).getUTCFullYear();
  return roundValues([first, last + 1], most)
    .filter(Number.isInteger)
    .map((year) => utc(year, 0, 1))
    .filter((tick) => tick.getTime() >= from && tick.getTime() <= to);
}
