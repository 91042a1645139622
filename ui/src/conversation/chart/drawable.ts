/** What can be shown of a result before the code of charts is loaded. */
import type { Head } from "../model";
import { isNumeric } from "../rows/format";

/** Whether an analyst can make a chart of the rows: two or more of them, with a number. */
export function canBeDrawn({ columns, rowCount }: Head): boolean {
  return rowCount >= 2 && columns.some(isNumeric);
}
