/** Horizontal bars, one row a place. */
import { horizontalTicks, textNode } from "./axes";
import type { Chart } from "./intent";
import { cut, textWidth } from "./letters";
import { node } from "./nodes";
import type { Plotted } from "./plotted";
import { axisNumbers, entryText, type Scene, type Setting, type Stop } from "./drawing";
import { FOOT } from "./height";
import { bands, linear } from "./scales";
import { apart, extent, stacked } from "./stack";

const MOST_NAME = 220;
const TOP = 22;
const RIGHT = 16;

export function lying(chart: Chart, { places, series, cells }: Plotted, setting: Setting): Scene {
  const { width, height, colors } = setting;
  const room = Math.min(MOST_NAME, width * 0.4);
  const names = places.map((place) => cut(place.name, room));
  const left = Math.max(...names.map((name) => textWidth(name)), 24) + 10;
  const plot = { left, top: TOP, right: width - RIGHT, bottom: height - FOOT };
  const share = chart.mark === "percent";
  const grouped = chart.mark === "bar" && series.length > 1;
  const ends = chart.mark === "bar" ? apart(cells) : stacked(cells, share);
  const domain = extent(
    ends.flatMap(({ from, to }) => [from, to]),
    true,
  );
  const x = linear(domain, [plot.left, plot.right], 6);
  const numbers = axisNumbers(
    chart,
    cells.map((cell) => cell.value),
    share,
  );
  const ticks = horizontalTicks(x, [plot.left - 8, width], numbers);
  const numbered = (of: unknown[]) => of.map((_, at) => at);
  const y = bands(numbered(places), [plot.top, plot.bottom], 0.24);
  const within = bands(numbered(series), [0, y.width], 0.08);
  const bars = ends
    .filter((cell) => cell.value !== null)
    .map((cell) => {
      const start = Math.min(x(cell.from), x(cell.to));
      const top = (y(cell.place) ?? 0) + (grouped ? (within(cell.series) ?? 0) : 0);
      return node("rect", {
        class: "bar",
        x: start,
        y: top,
        width: Math.max(cell.from === cell.to ? 0 : 1, Math.abs(x(cell.to) - x(cell.from))),
        height: grouped ? within.width : y.width,
        rx: chart.mark === "bar" ? 2 : 0,
        fill: series[cell.series]?.color ?? colors.accent,
      });
    });
  const grid = ticks.map(({ tick }) =>
    node("line", { x1: tick, x2: tick, y1: plot.top, y2: plot.bottom, stroke: colors.line }),
  );
  const text = entryText(chart);
  const stops: Stop[] = places.map((place, at) => {
    const centre = (y(at) ?? 0) + y.width / 2;
    const here = ends.filter((cell) => cell.place === at);
    return {
      x: Math.max(plot.left, ...here.map((cell) => x(Math.max(cell.from, cell.to)))),
      y: centre,
      name: place.name,
      entries: here.map((cell) => ({
        name: series[cell.series]?.name ?? "",
        text: text(cell.value),
        color: series[cell.series]?.color ?? colors.accent,
        x: x(cell.to),
        y: centre,
      })),
    };
  });
  const foot = ticks.map(({ at, text: label }) =>
    textNode(label, {
      class: "tick",
      x: at,
      y: plot.bottom + 18,
      "text-anchor": "middle",
      fill: colors.muted,
    }),
  );
  const nodes = [
    ...grid,
    ...bars,
    node("line", { x1: x(0), x2: x(0), y1: plot.top, y2: plot.bottom, stroke: colors.muted }),
    ...names.map((name, at) =>
      textNode(name, {
        x: plot.left - 8,
        y: (y(at) ?? 0) + y.width / 2 + 4,
        "text-anchor": "end",
        fill: colors.ink,
      }),
    ),
    ...foot,
    textNode(cut(unitOf(chart), width - left), { x: plot.left, y: 12, fill: colors.muted }),
  ];
  return { width, height, nodes, foot, stops, along: "y", plot, legend: series.length > 1 ? series : [] };
}

/** The title of the axis of values, with the unit. */
export function unitOf({ value, numbers, mark }: Chart): string {
  if (mark === "percent") return `${value.title} (%)`;
  return numbers.unit ? `${value.title} (${numbers.unit})` : value.title;
}
