/** A sentence on a chart for those who do not see it: the lowest and highest value, and where it goes. */
import type { Chart } from "./intent";
import { plotted } from "./plotted";
import { entryText } from "./drawing";
import { chartTexts } from "./texts";

const NO_COLORS = { ink: "", muted: "", line: "", accent: "", surface: "" };
const LEVEL = 0.05;
const FEWEST = 3;

export function summaryOf(chart: Chart): string {
  const { places, series, cells } = plotted(chart, NO_COLORS, new Set());
  const known = cells.flatMap((cell) => (cell.value === null ? [] : [{ ...cell, value: cell.value }]));
  const first = known[0];
  if (!first) return "";
  const text = entryText(chart);
  const lowest = known.reduce((best, cell) => (cell.value < best.value ? cell : best), first);
  const highest = known.reduce((best, cell) => (cell.value > best.value ? cell : best), first);
  const named = ({ place, series: at, value }: typeof first) => {
    const where = [series.length > 1 && !chart.second ? series[at]?.name : "", places[place]?.name];
    return chartTexts.extreme(text(value), where.filter(Boolean).join(", "));
  };
  const sentence = chartTexts.summary(named(lowest), named(highest));
  const trend = chart.across.kind === "temporal" && series.length === 1 ? trendOf(chart) : "";
  return trend ? `${sentence} ${trend}` : sentence;
}

/** Compares the means of the first and the last third. */
function trendOf(chart: Chart): string {
  const { places, cells } = plotted(chart, NO_COLORS, new Set());
  const inOrder = cells
    .flatMap(({ place, value }) => (value === null ? [] : [{ at: places[place]?.at ?? 0, value }]))
    .sort((one, other) => one.at - other.at)
    .map((each) => each.value);
  if (inOrder.length < FEWEST) return "";
  const third = Math.ceil(inOrder.length / 3);
  const before = mean(inOrder.slice(0, third));
  const after = mean(inOrder.slice(-third));
  const change = (after - before) / (Math.abs(before) || 1);
  const { rises, falls, level } = chartTexts;
  return change > LEVEL ? rises : change < -LEVEL ? falls : level;
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
