/** The chart that a choice makes of the proposed one, or of the rows. */
import type { Column, Row } from "../../api/types";
import { built, settingsOf } from "./build";
import { type Choice, dressed, needsRows } from "./choices";
import type { Chart } from "./intent";

/** `rows` are all of the result, or null while they are not: the proposed chart stands for another then. */
export function shownChart(
  chart: Chart | null,
  choice: Choice,
  of: { columns: Column[]; rows: Row[] | null },
): Chart | null {
  if (!needsRows(chart, choice)) return chart && dressed(chart, choice);
  const { columns, rows } = of;
  if (!rows) return chart;
  return built(chart, settingsOf(chart, choice, columns, rows), choice, { columns, rows });
}
