/** Numbers and times on axes and in the tooltip. */
import { locale } from "../../shared/locale";
import { chartTexts } from "./texts";

export const NUMBER_FORMATS = ["auto", "plain", "compact", "percent"] as const;
export type NumberFormat = (typeof NUMBER_FORMATS)[number];

/** How numbers are written: `unit` is put after them, such as EUR. */
export interface Numbers {
  format: NumberFormat;
  unit: string;
}

const LARGE = 10_000;
const MOST_DIGITS = 4;
const DATE = /^\d{4}-\d\d(-\d\d)?$/;
const OFFSET = /(?<=[T ].*)(Z|[+-]\d\d(:?\d\d)?)$/;
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;

/** Writes the ticks of an axis, with as many digits as tell them apart. */
export function tickFormat(ticks: number[], { format }: Numbers): (value: number) => string {
  const compact = format === "compact" || (format === "auto" && Math.max(...ticks.map(Math.abs)) >= LARGE);
  const written = (digits: number) =>
    new Intl.NumberFormat(locale, {
      maximumFractionDigits: digits,
      ...(compact && { notation: "compact" }),
      ...(format === "percent" && { style: "percent" }),
    });
  for (let digits = 0; digits < MOST_DIGITS; digits++) {
    const one = written(digits);
    if (new Set(ticks.map((each) => one.format(each))).size === ticks.length)
      return (value) => one.format(value);
  }
  const precise = written(MOST_DIGITS);
  return (value) => precise.format(value);
}

/** Writes a value as the tooltip and labels do. */
export function valueFormat({ format, unit }: Numbers): (value: number) => string {
  const style = new Intl.NumberFormat(locale, {
    maximumFractionDigits: format === "compact" ? 1 : MOST_DIGITS,
    ...(format === "compact" && { notation: "compact" }),
    ...(format === "percent" && { style: "percent", maximumFractionDigits: 2 }),
  });
  return (value) => (unit ? `${style.format(value)} ${unit}` : style.format(value));
}

/** A date or time as written, without regard to zones, like in the table. NaN if the text is none. */
export function timeOf(cell: unknown): number {
  if (typeof cell !== "string") return NaN;
  return Date.parse(DATE.test(cell) ? cell : `${cell.replace(" ", "T").replace(OFFSET, "")}Z`);
}

/** Writes the ticks of a time axis; the year is there whenever it is not the same for all. */
export function timeTickFormat(ticks: Date[], [from, to]: [number, number]): (time: Date) => string {
  const every = (of: (time: Date) => boolean) => ticks.every(of);
  if (every((tick) => tick.getUTCMonth() === 0 && isFirst(tick)) && to - from > 2 * YEAR_MS)
    return inUtc.year;
  if (every(isFirst)) return inUtc.month;
  const years = new Date(from).getUTCFullYear() !== new Date(to).getUTCFullYear();
  if (every(isMidnight)) return years ? inUtc.date : inUtc.day;
  return to - from > DAY_MS ? (time) => `${inUtc.day(time)} ${inUtc.clock(time)}` : inUtc.clock;
}

/** Writes a time of the data as precisely as the data is. */
export function timeFormat(times: number[]): (time: number) => string {
  const dates = times.filter(Number.isFinite).map((time) => new Date(time));
  if (dates.every((date) => isFirst(date) && date.getUTCMonth() === 0))
    return (time) => inUtc.year(new Date(time));
  if (dates.every(isFirst)) return (time) => inUtc.month(new Date(time));
  const isDate = dates.every(isMidnight);
  return (time) => {
    const at = new Date(time);
    const date = inUtc.date(at);
    return isDate ? `${chartTexts.days[at.getUTCDay()]} ${date}` : `${date} ${inUtc.clock(at)}`;
  };
}

const month = (time: Date) => chartTexts.months[time.getUTCMonth()] ?? "";
const day = (time: Date) => chartTexts.dayOfMonth(time.getUTCDate(), month(time));
const inUtc = {
  year: (time: Date) => String(time.getUTCFullYear()),
  month: (time: Date) => `${month(time)} ${time.getUTCFullYear()}`,
  date: (time: Date) => `${day(time)} ${time.getUTCFullYear()}`,
  day,
  clock: (time: Date) => time.toISOString().slice(11, 16),
};

const isMidnight = (time: Date) => time.getTime() % DAY_MS === 0;
const isFirst = (time: Date) => isMidnight(time) && time.getUTCDate() === 1;
