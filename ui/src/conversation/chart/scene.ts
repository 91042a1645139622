/** A chart as a drawing: pure data, the same for the page, for files and for tests. */
import { textNode } from "./axes";
import { upright } from "./draw_upright";
import { lying } from "./draw_lying";
import { heatMap } from "./draw_heat";
import { slices } from "./draw_slices";
import type { Scene, Setting } from "./drawing";
import { isLying } from "./height";
import type { Chart } from "./intent";
import { cut, FONT, lines, textWidth } from "./letters";
import { type Node, node } from "./nodes";
import { plotted, type Series } from "./plotted";

export function sceneOf(chart: Chart, setting: Setting): Scene {
  const cells = plotted(chart, setting.colors, setting.hidden);
  switch (chart.mark) {
    case "arc":
      return slices(chart, cells, setting);
    case "heat":
      return heatMap(chart, cells, setting);
    default:
      return isLying(chart) ? lying(chart, cells, setting) : upright(chart, cells, setting);
  }
}

const PAD = 16;
const SWATCH = 22;
const LINE = 18;

/** The chart with its heading, legend and notes, to be kept as a file. */
export function pictureOf(chart: Chart, notes: string, setting: Setting): Node {
  const { colors, width } = setting;
  const scene = sceneOf(chart, setting);
  const heading = lines(chart.heading, width, 16);
  const legend = legendRows(scene.legend, width);
  const below = lines(notes, width);
  const top = PAD + heading.length * 22 + legend.length * LINE + (legend.length > 0 ? 6 : 0);
  const height = top + scene.height + below.length * LINE + PAD;
  const words = [
    ...heading.map((text, at) =>
      textNode(text, {
        x: PAD,
        y: PAD + 14 + at * 22,
        fill: colors.ink,
        "font-size": 16,
        "font-weight": 600,
      }),
    ),
    ...legend.flatMap((row, at) =>
      row.flatMap(({ series, x }) => {
        const y = PAD + heading.length * 22 + at * LINE + 10;
        return [
          node("line", {
            x1: x,
            x2: x + 14,
            y1: y - 4,
            y2: y - 4,
            stroke: series.color,
            "stroke-width": 4,
            "stroke-dasharray": series.dash,
          }),
          textNode(series.name, { x: x + SWATCH, y, fill: colors.ink }),
        ];
      }),
    ),
    ...below.map((text, at) =>
      textNode(text, { x: PAD, y: top + scene.height + (at + 1) * LINE - 4, fill: colors.muted }),
    ),
  ];
  return node(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width: width + 2 * PAD,
      height,
      viewBox: `0 0 ${width + 2 * PAD} ${height}`,
      "font-family": FONT,
    },
    node("rect", { width: width + 2 * PAD, height, fill: colors.surface }),
    ...words,
    node("g", { transform: `translate(${PAD} ${top})` }, ...scene.nodes),
  );
}

function legendRows(legend: Series[], width: number): { series: Series; x: number }[][] {
  const rows: { series: Series; x: number }[][] = [];
  let x = PAD;
  for (const series of legend) {
    const name = cut(series.name, width - SWATCH);
    const wide = SWATCH + textWidth(name) + 16;
    if (rows.length === 0 || x + wide > width + PAD) {
      rows.push([]);
      x = PAD;
    }
    rows.at(-1)?.push({ series: { ...series, name }, x });
    x += wide;
  }
  return rows;
}
