/**
 * The contents of a chart, read from the server's specification field by field. Fields that are not
 * named here are ignored: the page draws only specifications that it has built itself.
 */

import type { Numbers } from "./numbers";

export const MARKS = [
  "bar",
  "stacked",
  "percent",
  "line",
  "area",
  "point",
  "arc",
  "histogram",
  "heat",
  "combo",
] as const;
/** What the server's specifications have; bars in several colours that add up are stacked. */
const GIVEN: readonly Mark[] = ["bar", "line", "area", "point", "arc"];
export type Mark = (typeof MARKS)[number];
export const TIME_UNITS = ["day", "week", "month", "quarter", "year"] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];
export type Kind = "quantitative" | "temporal" | "ordinal" | "nominal";

/** A column of the chart's data. */
export interface Channel {
  field: string;
  kind: Kind;
  title: string;
}

/** `unit` is that of the periods, `first` and `last` are days, and `running` says that the last is not over. */
export interface Covered {
  unit: TimeUnit;
  first: string;
  last: string;
  running: boolean;
}

export type Datum = Record<string, string | number | boolean | null>;

/**
 * `across` is what is compared, `value` the amount, `series` what colours distinguish. `adds` says that
 * values may be added up, as stacked bars and slices do; `how` says what the points add up or leave out,
 * `rows` how many rows of the result they are made of, and `computed` that the server computed them from these.
 * `covered` are the days that the data of the server's own time axis covers.
 */
export interface Chart {
  mark: Mark;
  across: Channel;
  value: Channel;
  series: Channel | null;
  /** The line of a chart of bars and a line. */
  second: Channel | null;
  adds: boolean;
  how: string;
  rows: number;
  computed: boolean;
  covered: Covered | null;
  data: Datum[];
  /** Above the chart; empty for none. */
  heading: string;
  numbers: Numbers;
}

/** Numbers as a chart writes them unless the analyst has chosen. */
export const PLAIN_NUMBERS: Numbers = { format: "auto", unit: "" };

const FIELD = /^[a-z]\d{1,3}$/;
const KINDS: readonly string[] = ["quantitative", "temporal", "ordinal", "nominal"];
const MOST_DATA = 5_000;
const LONGEST_HOW = 2_000;
const DATE = /^\d{4}-\d\d-\d\d$/;
const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;
const LONGEST_HEADING = 200;

/** The chart of a specification, or null if this page cannot draw it. */
export function readChart(spec: Record<string, unknown> | null): Chart | null {
  if (spec === null) return null;
  const upper = Array.isArray(spec.layer) ? recordOf(spec.layer.at(-1)) : spec;
  const drawn = markOf(upper.mark);
  const encoding = recordOf(upper.encoding);
  const axes = axesOf(encoding, drawn);
  const data = dataOf(recordOf(spec.data).values);
  if (drawn === null || axes === null || data.length === 0) return null;
  const adds = doesAdd(encoding);
  const mark = drawn === "bar" && axes.series !== null && adds ? "stacked" : drawn;
  const heading = headingOf(spec.title);
  const coverage = coverageOf(spec.usermeta, data);
  const across = onTime(axes.across, data);
  const numbers = isShare(encoding) ? { ...PLAIN_NUMBERS, format: "percent" as const } : PLAIN_NUMBERS;
  const drawing = { mark, ...axes, across, second: null, adds, data };
  return { ...drawing, ...coverage, computed: false, heading, numbers };
}

/** How many places there are beside each other. */
export function placesOf({ across, data }: Chart): number {
  return new Set(data.map((each) => each[across.field])).size;
}

/** Months are drawn on a scale of time, which writes them as people do. */
export function onTime(across: Channel, data: Datum[]): Channel {
  const months = data.every((each) => MONTH.test(String(each[across.field])));
  return months ? { ...across, kind: "temporal" } : across;
}

type Axes = Pick<Chart, "across" | "value" | "series">;

function axesOf(encoding: Record<string, unknown>, mark: Mark | null): Axes | null {
  const color = channelOf(encoding.color);
  if (mark === "arc") return axes(color, channelOf(encoding.theta), null);
  const x = channelOf(encoding.x);
  const y = channelOf(encoding.y);
  const horizontal = x?.kind === "quantitative" && y !== null && y.kind !== "quantitative";
  return horizontal ? axes(y, x, color) : axes(x, y, color);
}

function axes(across: Channel | null, value: Channel | null, series: Channel | null): Axes | null {
  return across && value ? { across, value, series } : null;
}

function channelOf(raw: unknown): Channel | null {
  const { field, type, title } = recordOf(raw);
  if (typeof field !== "string" || !FIELD.test(field)) return null;
  if (typeof type !== "string" || !KINDS.includes(type)) return null;
  return { field, kind: type as Kind, title: typeof title === "string" ? title.slice(0, 200) : field };
}

/** The server forbids stacking where a sum would mean nothing. */
function doesAdd(encoding: Record<string, unknown>): boolean {
  return [encoding.x, encoding.y].every((each) => recordOf(each).stack !== null);
}

function isShare({ y }: Record<string, unknown>): boolean {
  return String(recordOf(recordOf(y).axis).format).endsWith("%");
}

function coverageOf(usermeta: unknown, data: Datum[]): Pick<Chart, "how" | "rows" | "covered"> {
  const { how, rows, covered } = recordOf(recordOf(usermeta).kai);
  return {
    how: typeof how === "string" ? how.slice(0, LONGEST_HOW) : "",
    rows: typeof rows === "number" ? rows : data.length,
    covered: readCovered(covered),
  };
}

function readCovered(raw: unknown): Covered | null {
  const { unit, first, last, running } = recordOf(raw);
  const known = TIME_UNITS.find((each) => each === unit);
  if (!known || !isDay(first) || !isDay(last)) return null;
  return { unit: known, first, last, running: running === true };
}

/** Whether it is a date of the calendar. */
export function isDay(raw: unknown): raw is string {
  return typeof raw === "string" && DATE.test(raw) && !Number.isNaN(Date.parse(raw));
}

function headingOf(title: unknown): string {
  const { text } = recordOf(title);
  return typeof text === "string" ? text.slice(0, LONGEST_HEADING) : "";
}

function markOf(raw: unknown): Mark | null {
  const type = typeof raw === "string" ? raw : recordOf(raw).type;
  return GIVEN.find((each) => each === type) ?? null;
}

function dataOf(raw: unknown): Datum[] {
  if (!Array.isArray(raw)) return [];
  return raw.slice(0, MOST_DATA).map((each) => {
    const cells = Object.entries(recordOf(each)).filter(([name, cell]) => FIELD.test(name) && isPlain(cell));
    return Object.fromEntries(cells) as Datum;
  });
}

function isPlain(cell: unknown): boolean {
  return cell === null || ["string", "number", "boolean"].includes(typeof cell);
}

function recordOf(raw: unknown): Record<string, unknown> {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw)
    ? (raw as Record<string, unknown>)
    : {};
}
