/** How high a chart is drawn, known before the code that draws it is there, so that nothing jumps. */
import type { Chart } from "./intent";

const MANY_BARS = 48;
const FEW_BARS = 12;
const ROOMY_STEP = 28;
const DENSE_STEP = 20;
const HEIGHT = 300;
const AXIS = 46;

/** Bars of names lie down, so that the names can be read. */
export function isLying({ mark, across, series, data }: Chart): boolean {
  return mark === "bar" && across.kind === "nominal" && series === null && data.length <= MANY_BARS;
}

/** Vega-Lite's height: pixels, or pixels a bar. */
export function heightOf(chart: Chart): number | { step: number } {
  return isLying(chart) ? { step: stepOf(chart) } : HEIGHT;
}

/** All of it, its axis included, in pixels. */
export function drawnHeight(chart: Chart): number {
  return (isLying(chart) ? chart.data.length * stepOf(chart) : HEIGHT) + AXIS;
}

function stepOf({ data }: Chart): number {
  return data.length > FEW_BARS ? DENSE_STEP : ROOMY_STEP;
}
