/** Initial widths of columns, estimated from their cells. */
import type { Column, Row } from "../../api/types";
import { plain } from "./format";

/** Leaves the name room to be pressed beside the button of the column. */
export const NARROWEST = 80;
const WIDEST = 320;
const CHARACTER = 7.6;
const PADDING = 40; // of the cell, and room for the sort indicator

export function firstWidths(columns: Column[], rows: Row[]): number[] {
  return columns.map((column, index) => {
    const lengths = rows.slice(0, 50).map((row) => plain(row[index] ?? null).length);
    const longest = Math.max(column.name.length + 1, ...lengths);
    const roomy = column.type === "datetime" || column.type === "date" ? 4 : 0; // formats are longer
    return Math.round(Math.min(WIDEST, Math.max(NARROWEST, (longest + roomy) * CHARACTER + PADDING)));
  });
}
