/** The cells of a chart: at which place, in which series, how much. */
import { locale } from "../../shared/locale";
import type { Channel, Chart, Datum } from "./intent";
import type { ChartColors } from "./look";
import { timeFormat, timeOf } from "./numbers";
import { seriesColor, seriesDash } from "./palette";
import { chartTexts } from "./texts";

export interface Series {
  name: string;
  color: string;
  dash: string;
}

export interface Place {
  name: string;
  /** Its number or time on a scale of these; its index on a scale of names. */
  at: number;
}

/** `place` and `series` are indices. A `value` of null is a gap. */
export interface Cell {
  place: number;
  series: number;
  value: number | null;
  /** The ends of a band around the value. */
  band?: [number, number];
  /** Whether the value stands out. */
  ringed?: boolean;
}

/** What the server computes of a chart is in fields of these names. */
const LOW = "b0";
const HIGH = "b1";
const RING = "o0";

export interface Plotted {
  places: Place[];
  series: Series[];
  cells: Cell[];
  /** Of the line, by place, in a chart of bars and a line. */
  second: (number | null)[];
}

/** The cells of a chart without those of hidden series; the colours stay as they are. */
export function plotted(chart: Chart, colors: ChartColors, hidden: ReadonlySet<string>): Plotted {
  const { across, value, series: by, second, data } = chart;
  const position = positionOf(across, data);
  const places = new Map<string, number>();
  const found: Place[] = [];
  const names = new Map<string, number>();
  const cells: Cell[] = [];
  const line: (number | null)[] = [];
  for (const datum of data) {
    const key = String(datum[across.field] ?? "");
    const at = position.at(datum, found.length);
    if (Number.isNaN(at)) continue;
    const place = places.get(key) ?? found.push({ name: position.name(datum, at), at }) - 1;
    places.set(key, place);
    const name = by ? nameOf(datum[by.field]) : value.title;
    const series = names.get(name) ?? names.size;
    names.set(name, series);
    cells.push({ place, series, value: numberOf(datum[value.field]), ...computedOf(datum) });
    if (second) line[place] = numberOf(datum[second.field]);
  }
  const all = [...names.keys()];
  if (second) all.push(second.title);
  const series = all.map((name, at) => ({
    name,
    color: all.length === 1 ? colors.accent : seriesColor(at),
    dash: seriesDash(at, all.length),
  }));
  const seen = cells.filter((cell) => !hidden.has(all[cell.series] ?? ""));
  return { places: found, series, cells: seen, second: second && hidden.has(second.title) ? [] : line };
}

function computedOf(datum: Datum): Pick<Cell, "band" | "ringed"> {
  const low = numberOf(datum[LOW]);
  const high = numberOf(datum[HIGH]);
  return {
    ...(low !== null && high !== null && { band: [low, high] as [number, number] }),
    ...(RING in datum && { ringed: true }),
  };
}

/** The name of a cell on an axis or in a legend. */
export function nameOf(cell: Datum[string] | undefined): string {
  return cell === null || cell === undefined || cell === "" ? chartTexts.unknown : String(cell);
}

export function numberOf(cell: Datum[string] | undefined): number | null {
  return typeof cell === "number" && Number.isFinite(cell) ? cell : null;
}

interface Position {
  /** NaN where the datum has no place on the axis. */
  at: (datum: Datum, index: number) => number;
  name: (datum: Datum, at: number) => string;
}

function positionOf({ kind, field }: Channel, data: Datum[]): Position {
  if (kind === "quantitative")
    return { at: (datum) => numberOf(datum[field]) ?? NaN, name: (_, at) => at.toLocaleString(locale) };
  if (kind !== "temporal") return { at: (_, index) => index, name: (datum) => nameOf(datum[field]) };
  const format = timeFormat(data.map((datum) => timeOf(datum[field])));
  return { at: (datum) => timeOf(datum[field]), name: (_, at) => format(at) };
}
