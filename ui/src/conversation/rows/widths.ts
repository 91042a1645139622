/** Initial widths of columns, estimated from their cells. */
import type { Column, Row } from "../../api/types";
import { plain } from "./format";

/** Leaves the name room to be pressed beside the button of the column. */
export const NARROWEST = 80;
const WIDEST = 320;
const CHARACTER = 7.6;
const PADDING = 40; // of the cell, and room for the sort indicator
const BUTTON = 22; // of the column, beside its name

export function firstWidths(columns: Column[], rows: Row[]): number[] {
  return columns.map((column, index) => {
    const lengths = rows.slice(0, 50).map((row) => plain(row[index] ?? null).length);
    const roomy = column.type === "datetime" || column.type === "date" ? 4 : 0; // formats are longer
    const named = (column.name.length + 1) * CHARACTER + PADDING + BUTTON;
    const filled = (Math.max(0, ...lengths) + roomy) * CHARACTER + PADDING;
    return Math.round(Math.min(WIDEST, Math.max(NARROWEST, named, filled)));
  });
}
