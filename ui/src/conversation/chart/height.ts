/** Heights of charts, known before the drawing code is loaded, so the layout does not shift. */
import { type Chart, placesOf } from "./intent";

const MANY_BARS = 48;
const FEW_BARS = 12;
const ROOMY_STEP = 28;
const DENSE_STEP = 20;
const LEAST_STEP = 16;
const STEP_OF_A_SERIES = 9;
const HEIGHT = 300;
const AXIS = 50;
/** Of the axis below the drawing. */
export const FOOT = 28;
const LEGEND = 32;
/** Of the heading and the line that counts the rows. */
const AROUND = 68;

const BARS: readonly string[] = ["bar", "stacked", "percent"];

/** Bars of names are horizontal, so that the names can be read. */
export function isLying(chart: Chart): boolean {
  return BARS.includes(chart.mark) && chart.across.kind === "nominal" && placesOf(chart) <= MANY_BARS;
}

/** The height of the drawing where there is `room`: all of it, but with names beside it as much as they take. */
export function heightIn(chart: Chart, room: number): number {
  if (!isLying(chart) && chart.mark !== "heat") return room;
  const names = chart.mark === "heat" ? seriesOf(chart) : placesOf(chart);
  const step = isLying(chart) && stepOf(chart) > ROOMY_STEP ? stepOf(chart) : LEAST_STEP;
  return Math.max(names * step + AXIS, Math.min(room, drawingHeight(chart)));
}

/** The height of the drawing, with its axes. */
export function drawingHeight(chart: Chart): number {
  if (isLying(chart)) return placesOf(chart) * stepOf(chart) + AXIS;
  if (chart.mark === "heat") return Math.min(30, Math.max(3, seriesOf(chart))) * ROOMY_STEP + AXIS;
  return HEIGHT + AXIS;
}

/** The height of the whole panel without its choices, which take two lines on narrow screens. */
export function panelHeight(chart: Chart | null): number {
  if (!chart) return HEIGHT + AXIS + AROUND;
  return drawingHeight(chart) + AROUND + (chart.series || chart.mark === "arc" ? LEGEND : 0);
}

/** Bars of several series beside each other need more room than one bar. */
function stepOf(chart: Chart): number {
  const step = placesOf(chart) > FEW_BARS ? DENSE_STEP : ROOMY_STEP;
  return chart.mark === "bar" && chart.series
    ? Math.max(step, (seriesOf(chart) + 1) * STEP_OF_A_SERIES)
    : step;
}

function seriesOf({ series, data }: Chart): number {
  return series ? new Set(data.map((each) => each[series.field])).size : 1;
}
