/** Heights of the grid, known before its code is there. */
import { isNarrow } from "../chart/height";

/** A finger needs more than a pointer. */
export const rowHeight = () => (isNarrow() ? 40 : 30);
const HIGHEST = 400;
const FOOT = 41;

/** The panel with this many rows, in pixels. */
export function panelHeight(rows: number): number {
  return Math.min(HIGHEST, (rows + 1) * rowHeight() + 1) + FOOT;
}
