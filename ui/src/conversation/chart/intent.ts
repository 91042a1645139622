/**
 * The contents of a chart, read from the server's specification field by field. Fields that are not
 * named here are ignored: the page draws only specifications that it has built itself.
 */

export const MARKS = ["bar", "line", "area", "point", "arc"] as const;
export type Mark = (typeof MARKS)[number];
export type Kind = "quantitative" | "temporal" | "ordinal" | "nominal";

/** A column of the chart's data. */
export interface Channel {
  field: string;
  kind: Kind;
  title: string;
}

export type Datum = Record<string, string | number | boolean | null>;

/**
 * `across` is what is compared, `value` the amount, `series` what colours distinguish. `adds` says that
 * values may be added up, as stacked bars and slices do; `how` says what the points add up or leave out.
 */
export interface Chart {
  mark: Mark;
  across: Channel;
  value: Channel;
  series: Channel | null;
  adds: boolean;
  how: string;
  data: Datum[];
}

const FIELD = /^[a-z]\d{1,3}$/;
const KINDS: readonly string[] = ["quantitative", "temporal", "ordinal", "nominal"];
const MOST_DATA = 5_000;
const LONGEST_HOW = 2_000;

/** The chart of a specification, or null if this page cannot draw it. */
export function readChart(spec: Record<string, unknown> | null): Chart | null {
  if (spec === null) return null;
  const mark = markOf(spec.mark);
  const encoding = recordOf(spec.encoding);
  const axes = axesOf(encoding, mark);
  const data = dataOf(recordOf(spec.data).values);
  if (mark === null || axes === null || data.length === 0) return null;
  return { mark, ...axes, adds: doesAdd(encoding), how: howOf(spec.usermeta), data };
}

/** How many places there are beside each other. */
export function placesOf({ across, data }: Chart): number {
  return new Set(data.map((each) => each[across.field])).size;
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

function howOf(usermeta: unknown): string {
  const { how } = recordOf(recordOf(usermeta).kai);
  return typeof how === "string" ? how.slice(0, LONGEST_HOW) : "";
}

function markOf(raw: unknown): Mark | null {
  const type = typeof raw === "string" ? raw : recordOf(raw).type;
  return MARKS.find((each) => each === type) ?? null;
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
