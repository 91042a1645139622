/** Heights of the grid, known before its code is there. */
export const ROW_HEIGHT = 30;
const HIGHEST = 400;
const FOOT = 41;

/** The panel with this many rows, in pixels. */
export function panelHeight(rows: number): number {
  return Math.min(HIGHEST, (rows + 1) * ROW_HEIGHT + 1) + FOOT;
}
