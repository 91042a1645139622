/** A heat map: the darker a cell, the higher its value. */
import { labelsBelow, placeTicks, textNode } from "./axes";
import type { Chart } from "./intent";
import { FOOT } from "./height";
import { cut, textWidth } from "./letters";
import { node } from "./nodes";
import type { Plotted } from "./plotted";
import { entryText, type Scene, type Setting } from "./drawing";
import { bands, mixed } from "./scales";
import { extent } from "./stack";
import { tickFormat } from "./numbers";

const TOP = 22;
const STEPS = 5;

export function heatMap(chart: Chart, { places, series, cells }: Plotted, setting: Setting): Scene {
  const { width, height, colors } = setting;
  const names = series.map((each) => cut(each.name, Math.min(160, width * 0.3)));
  const left = Math.max(24, ...names.map((name) => textWidth(name))) + 10;
  const plot = { left, top: TOP, right: width - 8, bottom: height - FOOT };
  const order = chart.across.kind === "nominal" ? places.map((_, at) => at) : byPosition(places);
  const x = bands(order, [plot.left, plot.right], 0.04);
  const numbered = (of: unknown[]) => of.map((_, at) => at);
  const y = bands(numbered(series), [plot.top, plot.bottom], 0.06);
  const values = cells.flatMap((cell) => (cell.value === null ? [] : [cell.value]));
  const domain = extent(values, false);
  const span = domain[1] - domain[0] || 1;
  const color = (value: number) => mixed(colors.line, colors.accent, (value - domain[0]) / span);
  const known = cells.filter((cell) => cell.value !== null);
  const text = entryText(chart);
  const labels = placeTicks(
    bands(numbered(order), [plot.left, plot.right], 0.04),
    order.map((at) => places[at]?.name ?? ""),
    [0, width],
  );
  const steps = Array.from(
    { length: STEPS },
    (_, at) => domain[0] + ((domain[1] - domain[0]) * at) / (STEPS - 1),
  );
  const ends = tickFormat([domain[0], domain[1]], chart.numbers);
  const scaleAt = width - 8 - STEPS * 14 - textWidth(ends(domain[1])) - 6;
  const foot = labelsBelow(labels, plot.bottom, colors.muted);
  return {
    width,
    height,
    foot,
    nodes: [
      ...known.map((cell) =>
        node("rect", {
          class: "cell",
          x: x(cell.place) ?? 0,
          y: y(cell.series) ?? 0,
          width: x.width,
          height: y.width,
          fill: color(cell.value ?? 0),
        }),
      ),
      ...names.map((name, at) =>
        textNode(name, {
          x: plot.left - 8,
          y: (y(at) ?? 0) + y.width / 2 + 4,
          "text-anchor": "end",
          fill: colors.ink,
        }),
      ),
      ...foot,
      textNode(cut(chart.value.title, scaleAt - 80), { x: 0, y: 12, fill: colors.muted }),
      textNode(ends(domain[0]), { x: scaleAt - 6, y: 12, "text-anchor": "end", fill: colors.muted }),
      ...steps.map((step, at) =>
        node("rect", { x: scaleAt + at * 14, y: 2, width: 14, height: 11, fill: color(step) }),
      ),
      textNode(ends(domain[1]), { x: scaleAt + STEPS * 14 + 6, y: 12, fill: colors.muted }),
    ],
    stops: known.map((cell) => {
      const at = {
        x: (x(cell.place) ?? 0) + x.width / 2,
        y: (y(cell.series) ?? 0) + y.width / 2,
      };
      const name = series[cell.series]?.name ?? "";
      const entry = { name, text: text(cell.value), color: color(cell.value ?? 0), ...at };
      return { ...at, name: places[cell.place]?.name ?? "", entries: [entry] };
    }),
    along: "both",
    plot,
    legend: [],
  };
}

function byPosition(places: { at: number }[]): number[] {
  return places.map((_, at) => at).sort((one, other) => (places[one]?.at ?? 0) - (places[other]?.at ?? 0));
}
