/** A ring of slices, with the share of each in the tooltip. */
import { arc, pie } from "d3-shape";
import { locale } from "../../shared/locale";
import type { Chart } from "./intent";
import { node } from "./nodes";
import { seriesColor } from "./palette";
import type { Plotted } from "./plotted";
import { entryText, type Scene, type Setting } from "./drawing";

const HOLE = 0.55;
const MARGIN = 14;
const SHARE = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });

export function slices(chart: Chart, { places, cells }: Plotted, setting: Setting): Scene {
  const { width, height, colors, hidden } = setting;
  const values = places.map((_, at) =>
    cells.reduce((sum, cell) => (cell.place === at ? sum + Math.max(0, cell.value ?? 0) : sum), 0),
  );
  const seen = values.map((value, at) => (hidden.has(places[at]?.name ?? "") ? 0 : value));
  const whole = seen.reduce((sum, value) => sum + value, 0);
  const radius = Math.min(width, height) / 2 - MARGIN;
  const shape = arc<{ startAngle: number; endAngle: number }>()
    .innerRadius(radius * HOLE)
    .outerRadius(radius)
    .padAngle(0.012)
    .digits(2);
  const angles = pie<number>().sort(null)(seen);
  const text = entryText(chart);
  const drawn = angles.map((angle, at) => {
    const [x, y] = shape
      .innerRadius(radius * HOLE)
      .outerRadius(radius)
      .centroid(angle);
    const color = seriesColor(at);
    const name = places[at]?.name ?? "";
    const share = whole > 0 ? SHARE.format((seen[at] ?? 0) / whole) : "–";
    const entry = { name: chart.value.title, text: `${text(values[at] ?? 0)} (${share})`, color, x: 0, y: 0 };
    const stop = { x: x + width / 2, y: y + height / 2, name, entries: [entry] };
    const slice = node("path", {
      class: "slice",
      d: shape(angle) ?? "",
      fill: color,
      stroke: colors.surface,
    });
    return { slice, stop, legend: { name, color, dash: "" } };
  });
  const shown = drawn.filter((_, at) => (seen[at] ?? 0) > 0);
  return {
    width,
    height,
    nodes: [
      node("g", { transform: `translate(${width / 2} ${height / 2})` }, ...shown.map((each) => each.slice)),
    ],
    stops: shown.map((each) => each.stop),
    along: "both",
    plot: { left: 0, top: 0, right: width, bottom: height },
    legend: drawn.map(({ legend }) => legend),
  };
}
