/** A selected rectangle of cells, from its first corner to its current one. */
import type { Cell, Row } from "../../api/types";
import { plain } from "./format";

export interface Place {
  row: number;
  column: number;
}

export interface Selection {
  anchor: Place;
  focus: Place;
}

const PAGE = 10;

export function at(place: Place): Selection {
  return { anchor: place, focus: place };
}

/** The cell to which a key moves, or null if the key does not move. */
export function moved(from: Place, key: string, last: Place): Place | null {
  const { row, column } = from;
  const to: Record<string, Place> = {
    ArrowUp: { row: row - 1, column },
    ArrowDown: { row: row + 1, column },
    ArrowLeft: { row, column: column - 1 },
    ArrowRight: { row, column: column + 1 },
    PageUp: { row: row - PAGE, column },
    PageDown: { row: row + PAGE, column },
    Home: { row, column: 0 },
    End: { row, column: last.column },
  };
  const place = to[key];
  return place ? { row: between(place.row, last.row), column: between(place.column, last.column) } : null;
}

export function holds({ anchor, focus }: Selection, place: Place): boolean {
  return inside(place.row, anchor.row, focus.row) && inside(place.column, anchor.column, focus.column);
}

/** The cells as text to paste into a spreadsheet, under the names of their columns, and their number. */
export function asTable(
  { anchor, focus }: Selection,
  rowAt: (row: number) => Row | undefined,
  names?: string[],
): { text: string; cells: number } {
  const rows = range(anchor.row, focus.row).map((row) => rowAt(row) ?? []);
  const columns = range(anchor.column, focus.column);
  const line = (cells: Cell[]) =>
    columns.map((column) => plain(cells[column] ?? null).replace(/[\t\r\n]+/g, " ")).join("\t");
  const lines = [...(names ? [names] : []), ...rows].map(line);
  return { text: lines.join("\n"), cells: rows.length * columns.length };
}

function range(one: number, other: number): number[] {
  const first = Math.min(one, other);
  return Array.from({ length: Math.abs(one - other) + 1 }, (_, index) => first + index);
}

const between = (value: number, last: number) => Math.max(0, Math.min(value, last));
const inside = (value: number, one: number, other: number) =>
  value >= Math.min(one, other) && value <= Math.max(one, other);
