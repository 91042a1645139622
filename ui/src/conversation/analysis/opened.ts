import { signal } from "@preact/signals";
import type { Reference } from "../../api/types";
import type { Head } from "../model";
import type { FindOrigin } from "./sources";

/** Rows of a result, from 0. */
interface Rows {
  head: Head;
  rows: ReadonlySet<number>;
  /** Row and column of the first cell. */
  first: [number, number] | null;
}

/** The rows whose source is open: charts ring their points, and the table brings them into sight. */
export const opened = signal<Rows | null>(null);

/** The rows that references of one result name. */
export function rowsOf(references: readonly Reference[], origin: FindOrigin): Rows | null {
  const head = references.map((each) => origin(each.result_id)?.head).find(Boolean);
  if (!head) return null;
  const own = references.filter((each) => origin(each.result_id)?.head === head);
  const cells = own.flatMap((each) => each.cells);
  const column = head.columns.findIndex(({ name }) => name === cells[0]?.column);
  return {
    head,
    rows: new Set(cells.map(({ row }) => row)),
    first: cells[0] ? [cells[0].row, column] : null,
  };
}
