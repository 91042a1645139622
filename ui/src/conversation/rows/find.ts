/** Cells that hold a text, in the order of the rows. */
import type { Row } from "../../api/types";
import { type Format, plain } from "./format";
import type { Place } from "./selection";

export const MOST_MATCHES = 1_000;

/** Places in the shown order, at most a thousand; as a person reads the cells, or as they are stored. */
export function placesOf(
  sought: string,
  count: number,
  rowAt: (row: number) => Row | undefined,
  columns: { index: number; format: Format }[],
): Place[] {
  const needle = sought.trim().toLocaleLowerCase();
  const places: Place[] = [];
  if (needle === "") return places;
  for (let row = 0; row < count; row += 1) {
    const cells = rowAt(row);
    if (!cells) continue;
    for (const [column, { index, format }] of columns.entries()) {
      const cell = cells[index] ?? null;
      if (cell === null || !(holds(plain(cell), needle) || holds(format(cell), needle))) continue;
      places.push({ row, column });
      if (places.length === MOST_MATCHES) return places;
    }
  }
  return places;
}

const holds = (text: string, needle: string) => text.toLocaleLowerCase().includes(needle);
