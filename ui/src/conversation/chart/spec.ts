/** Vega-Lite of our own making for a chart: no expression, no transform, no address. */
import type { TopLevelSpec } from "vega-lite";
import { heightOf, isLying } from "./height";
import type { Channel, Chart } from "./intent";
import type { ChartColors } from "./look";
import { lookOf } from "./look";

type Encoding = Record<string, unknown>;

export function specOf(chart: Chart, width: number, colors: ChartColors): TopLevelSpec {
  const { mark, data } = chart;
  const lying = isLying(chart);
  const spec = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width,
    height: heightOf(chart),
    autosize: { type: "fit-x", contains: "padding" },
    data: { values: data },
    mark: markOf(mark),
    encoding: encodingOf(chart, lying),
    config: lookOf(colors),
  };
  return spec as unknown as TopLevelSpec;
}

function markOf(mark: Chart["mark"]): Record<string, unknown> {
  switch (mark) {
    case "line":
      return { type: "line", point: { size: 28 }, strokeWidth: 2 };
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
  const tooltip = [across, value, ...(series ? [series] : [])].map((each) => told(each));
  if (mark === "arc") return { theta: plain(value), color: { ...plain(across), sort: null }, tooltip };
  const color: Encoding = series ? { color: { ...plain(series), sort: null } } : {};
  const names = across.kind === "quantitative" ? axis(across) : { ...axis(across), sort: null };
  if (lying)
    return { y: { ...names, axis: { labelLimit: 220, title: null } }, x: axis(value), ...color, tooltip };
  const upright =
    across.kind === "quantitative"
      ? names
      : { ...names, axis: { labelAngle: 0, labelOverlap: true, labelSeparation: 8 } };
  return { x: upright, y: axis(value), ...color, tooltip };
}

function plain({ field, kind, title }: Channel): Encoding {
  return { field, type: kind, title };
}

function told(channel: Channel): Encoding {
  return { ...plain(channel), ...(channel.kind === "quantitative" && { format: ",~f" }) };
}

function axis(channel: Channel): Encoding {
  const few = { axis: { format: ",~r", tickCount: 6 } };
  return { ...plain(channel), ...(channel.kind === "quantitative" && few) };
}
