/** Heights of charts, known before the drawing code is loaded, so the layout does not shift. */
import { type Chart, placesOf } from "./intent";

const MANY_BARS = 48;
const FEW_BARS = 12;
const ROOMY_STEP = 28;
const DENSE_STEP = 20;
const STEP_OF_A_SERIES = 9;
const HEIGHT = 300;
const AXIS = 46;
const LEGEND = 40;
const LINE_OF_TEXT = 16;
const CHARACTER_WIDTH = 6.4;

/** Bars of names are horizontal, so that the names can be read. */
export function isLying(chart: Chart): boolean {
  return chart.mark === "bar" && chart.across.kind === "nominal" && placesOf(chart) <= MANY_BARS;
}

/** Vega-Lite's height: pixels, or pixels a place. */
export function heightOf(chart: Chart): number | { step: number; for: "position" } {
  return isLying(chart) ? { step: stepOf(chart), for: "position" } : HEIGHT;
}

/** The total height with axis, legend and notes, in pixels. */
export function drawnHeight(chart: Chart, width = 0): number {
  const notes = width > 0 ? notesOf(chart, width).length * LINE_OF_TEXT : 0;
  const legend = chart.series || chart.mark === "arc" ? LEGEND : 0;
  return (isLying(chart) ? placesOf(chart) * stepOf(chart) : HEIGHT) + AXIS + legend + notes;
}

/** What the points add up or leave out, in lines that fit the width. */
export function notesOf({ how }: Chart, width: number): string[] {
  const longest = Math.max(30, Math.floor(width / CHARACTER_WIDTH));
  const lines: string[] = [];
  for (const word of how.split(" ").filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < longest) lines.splice(-1, 1, `${last} ${word}`);
    else lines.push(word);
  }
  return lines;
}

/** Bars of several series beside each other need more room than one bar. */
function stepOf(chart: Chart): number {
  const step = placesOf(chart) > FEW_BARS ? DENSE_STEP : ROOMY_STEP;
  return isGrouped(chart) ? Math.max(step, (seriesOf(chart) + 1) * STEP_OF_A_SERIES) : step;
}

/** Whether the bars of a place are side by side, because they may not be added up. */
export function isGrouped({ mark, series, adds }: Chart): boolean {
  return mark === "bar" && series !== null && !adds;
}

function seriesOf({ series, data }: Chart): number {
  return series ? new Set(data.map((each) => each[series.field])).size : 1;
}
