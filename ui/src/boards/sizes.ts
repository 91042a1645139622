/** How much of the grid a new pin takes. */
import type { Column } from "../api/types";
import { isNumeric } from "../conversation/rows/format";

const MOST_FIGURES = 2;
const OF_FIGURES = { width: 3, height: 1 };
const OF_CHART = { width: 6, height: 3 };
const OF_TABLE = { width: 8, height: 3 };

/** Whether the rows are one row of one or two numbers. */
export function areFigures(columns: readonly Column[], rowCount: number | null): boolean {
  return rowCount === 1 && columns.length <= MOST_FIGURES && columns.every(isNumeric);
}

export function sizeOf(columns: readonly Column[], rowCount: number, charted: boolean) {
  if (areFigures(columns, rowCount)) return OF_FIGURES;
  return charted ? OF_CHART : OF_TABLE;
}
