/** Initial widths of columns, estimated from their cells. */
import type { Column, Row } from "../../api/types";
import { plain } from "./format";
import { sum } from "./window";

/** Leaves the name room to be pressed beside the button of the column. */
export const NARROWEST = 80;
const WIDEST = 320;
const CHARACTER = 7.6;
const PADDING = 40; // of the cell, and room for the sort indicator
const BUTTON = 22; // of the column, beside its name
const SHORT_NAME = 110;

/** Names are cut only where all columns fit into the `room` then. */
export function firstWidths(columns: Column[], rows: Row[], room = Infinity): number[] {
  const needed = columns.map((column, index) => {
    const lengths = rows.slice(0, 50).map((row) => plain(row[index] ?? null).length);
    const roomy = column.type === "datetime" || column.type === "date" ? 4 : 0; // formats are longer
    const named = (column.name.length + 1) * CHARACTER + PADDING + BUTTON;
    const filled = Math.max(NARROWEST, (Math.max(0, ...lengths) + roomy) * CHARACTER + PADDING);
    const least = Math.max(filled, Math.min(named, SHORT_NAME));
    return { whole: Math.min(WIDEST, Math.max(named, filled)), least: Math.min(WIDEST, least) };
  });
  const over = sum(needed.map((each) => each.whole)) - room;
  const spare = room - sum(needed.map((each) => each.least));
  const cut = over > 0 && spare >= 0 ? over / (over + spare) : 0;
  return needed.map(({ whole, least }) => Math.floor(whole - cut * (whole - least)));
}
