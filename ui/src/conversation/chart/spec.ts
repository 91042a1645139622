/** Builds a chart's Vega-Lite specification, without expressions, transforms or URLs. */
import type { TopLevelSpec } from "vega-lite";
import { heightOf, isGrouped, isLying, notesOf } from "./height";
import type { Channel, Chart, Datum } from "./intent";
import type { ChartColors } from "./look";
import { lookOf } from "./look";

type Encoding = Record<string, unknown>;

const MANY_POINTS = 100;
const TICKS = 8;
const YEAR_MS = 365 * 24 * 3_600_000;
const DAY = /^\d{4}-\d\d-\d\d$/;
const OFFSET = /(?<=T.*)(Z|[+-]\d\d(:?\d\d)?)$/;
const TIME_OF_DAY = /[T ](?!00:00(:00)?(\.0+)?(Z|\+00(:00)?)?$)\d\d:\d\d/;

export function specOf(chart: Chart, width: number, colors: ChartColors): TopLevelSpec {
  const lying = isLying(chart);
  const notes = notesOf(chart, width);
  const spec = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width,
    height: heightOf(chart),
    autosize: { type: "fit-x", contains: "padding" },
    ...(notes.length > 0 && { title: noteOf(notes, colors) }),
    data: { values: chart.data.map((each) => asWritten(each, chart)) },
    mark: markOf(chart),
    encoding: encodingOf(chart, lying),
    config: lookOf(colors),
  };
  return spec as unknown as TopLevelSpec;
}

/** The note below the chart; inside the drawing, so exported pictures have it, too. */
function noteOf(text: string[], { muted }: ChartColors): Record<string, unknown> {
  return {
    text,
    orient: "bottom",
    anchor: "start",
    frame: "bounds",
    offset: 12,
    fontSize: 12,
    fontWeight: 400,
    color: muted,
    limit: 10_000,
  };
}

/** Times are drawn as written, like in the table and the text, and not converted to the reader's zone. */
function asWritten(datum: Datum, { across }: Chart): Datum {
  const cell = datum[across.field];
  if (across.kind !== "temporal" || typeof cell !== "string") return datum;
  const time = DAY.test(cell) ? `${cell}T00:00:00` : cell.replace(" ", "T").replace(OFFSET, "");
  return { ...datum, [across.field]: time };
}

function markOf({ mark, data }: Chart): Record<string, unknown> {
  switch (mark) {
    case "line":
      return {
        type: "line",
        point: { size: 28, opacity: data.length > MANY_POINTS ? 0 : 1 },
        strokeWidth: 2,
      };
    case "area":
      return { type: "area", opacity: 0.7, line: true };
    case "point":
      return { type: "point", filled: true, size: 60, opacity: 0.8 };
    case "arc":
      return { type: "arc", innerRadius: 60, padAngle: 0.01 };
    case "bar":
      return { type: "bar", cornerRadiusEnd: 2 };
  }
}

function encodingOf(chart: Chart, lying: boolean): Encoding {
  const { mark, across, value, series } = chart;
  const tooltip = [across, value, ...(series ? [series] : [])].map((each) => tooltipOf(each, chart));
  if (mark === "arc") return { theta: plain(value), color: { ...plain(across), sort: null }, tooltip };
  const color: Encoding = series ? { color: { ...plain(series), sort: null } } : {};
  if (series && isGrouped(chart)) color[lying ? "yOffset" : "xOffset"] = { ...plain(series), sort: null };
  const amount = chart.adds ? axis(value) : { ...axis(value), stack: null };
  const names = across.kind === "quantitative" ? axis(across) : { ...axis(across), sort: null };
  if (lying) return { y: { ...names, axis: { labelLimit: 220, title: null } }, x: amount, ...color, tooltip };
  const upright =
    across.kind === "quantitative"
      ? names
      : { ...names, axis: { labelAngle: 0, labelOverlap: true, labelSeparation: 8, ...ticksOf(chart) } };
  return { x: upright, y: amount, ...color, tooltip };
}

/** Beyond one year, month labels include the year; beyond eight years, labels show the year only. */
function ticksOf({ across, data }: Chart): Encoding {
  if (across.kind !== "temporal") return {};
  const times = data.map((each) => Date.parse(String(each[across.field]))).filter(Number.isFinite);
  const years = (Math.max(...times) - Math.min(...times)) / YEAR_MS;
  if (!(years > 0.9)) return {};
  return { format: years > 8 ? "%Y" : "%b %Y", tickCount: TICKS };
}

function plain({ field, kind, title }: Channel): Encoding {
  return { field, type: kind, title };
}

function tooltipOf(channel: Channel, { data }: Chart): Encoding {
  if (channel.kind === "quantitative") return { ...plain(channel), format: ",~f" };
  if (channel.kind !== "temporal") return plain(channel);
  const timed = data.some((each) => TIME_OF_DAY.test(String(each[channel.field])));
  return { ...plain(channel), format: timed ? "%Y-%m-%d %H:%M" : "%Y-%m-%d" };
}

function axis(channel: Channel): Encoding {
  const few = { axis: { format: ",~r", tickCount: 6, labelOverlap: true, labelSeparation: 4 } };
  return { ...plain(channel), ...(channel.kind === "quantitative" && few) };
}
