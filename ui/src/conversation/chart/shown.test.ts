/** Reports make the same charts on the server: `tests/unit/test_reports.py` reads the same file. */
import { expect, test } from "vitest";
import type { Column, ComputedChart, Row } from "../../api/types";
import { settingsOf } from "./build";
import { readChoice } from "./choices";
import { computedChart } from "./computed";
import golden from "./golden/charts.json";
import { type Chart, readChart } from "./intent";
import { notesOf } from "./notes";
import { shownChart } from "./shown";

interface Golden {
  says: string;
  table: string;
  proposed: Record<string, unknown> | null;
  computed: ComputedChart | null;
  choice: object;
  notes: string;
  shown: Chart;
}

const tables = golden.tables as unknown as Record<string, { columns: Column[]; rows: Row[] }>;

test.each(golden.charts as unknown as Golden[])("$says", (each) => {
  const { table, proposed, computed, choice, notes, shown } = each;
  const { columns, rows } = tables[table] ?? { columns: [], rows: [] };
  const chart = readChart(proposed);
  const chosen = readChoice(choice, columns.length);
  const made =
    computedChart(computed, settingsOf(chart, chosen, columns, rows), chosen) ??
    shownChart(chart, chosen, { columns, rows });
  expect(made).toEqual(shown);
  expect(notesOf(shown)).toBe(notes);
});
