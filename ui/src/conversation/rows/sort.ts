/** The order of rows by a column; nulls come last in both directions. */
import type { Cell, Row } from "../../api/types";
import { locale } from "../../shared/locale";

export interface Sorting {
  column: number;
  descending: boolean;
}

const COLLATOR = new Intl.Collator(locale, { numeric: true });

/** Positions of the rows in the sorted order; equal rows keep theirs. */
export function order(rows: Row[], sorting: Sorting | null, numeric: boolean): number[] {
  const positions = rows.map((_, position) => position);
  if (sorting === null) return positions;
  const keys = rows.map((row) => row[sorting.column] ?? null);
  const compare = numeric ? byNumber : byText;
  const sign = sorting.descending ? -1 : 1;
  return positions.sort((one, other) => nullsLast(keys[one] ?? null, keys[other] ?? null, compare, sign));
}

/** Cycles: ascending, descending, the order of the answer. */
export function nextSorting(now: Sorting | null, column: number): Sorting | null {
  if (now?.column !== column) return { column, descending: false };
  return now.descending ? null : { column, descending: true };
}

function nullsLast(
  one: Cell,
  other: Cell,
  compare: (one: Cell, other: Cell) => number,
  sign: number,
): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return sign * compare(one, other);
}

const byNumber = (one: Cell, other: Cell) => Number(one) - Number(other);
const byText = (one: Cell, other: Cell) => COLLATOR.compare(text(one), text(other));
const text = (cell: Cell) => (typeof cell === "object" ? JSON.stringify(cell) : String(cell));
