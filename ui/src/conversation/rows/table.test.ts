import { expect, test } from "vitest";
import type { Row } from "../../api/types";
import { MOST_MATCHES, placesOf } from "./find";
import { plain } from "./format";
import { laidOut } from "./laid_out";
import { asTable } from "./selection";
import { statisticsOf, sumOf } from "./statistics";
import { firstWidths } from "./widths";
import { columnsInSight, rowsInSight, scrolledTo } from "./window";

const rows: Row[] = [
  ["b", 10.1],
  ["a", null],
  ["C", 0.2],
  ["a", "12345678901234567890.25"],
];

test("the figures of a column are of all its rows", () => {
  expect(statisticsOf(rows, 0, false)).toEqual({
    ...{ nulls: 0, distinct: 3, min: "a", max: "C", mean: null },
    top: [
      ["a", 2],
      ["b", 1],
      ["C", 1],
    ],
  });
  const { nulls, min, max, mean } = statisticsOf(rows.slice(0, 3), 1, true);
  expect([nulls, min, max, mean]).toEqual([1, 0.2, 10.1, 5.15]);
});

test("a column of nulls has no figures", () => {
  expect(statisticsOf([[null], [null]], 0, true)).toEqual({
    ...{ nulls: 2, distinct: 0, min: null, max: null, mean: null, top: [] },
  });
});

test.each([
  [[0.1, 0.2], "0.3"],
  [[10.1, null, "12345678901234567890.25"], "12345678901234567900.35"],
  [[-0.05, -1], "-1.05"],
  [[5, -5.5], "-0.5"],
  [[1e21, 1], "1e+21"],
  [[null], null],
])("the sum of %j is %j", (cells, total) => {
  expect(
    sumOf(
      cells.map((cell) => [cell]),
      0,
    ),
  ).toBe(total);
});

test("forty-five columns of a wide result have at most four hundred cells in sight", () => {
  const widths = Array.from({ length: 45 }, () => 64);
  for (const left of [0, 100, 1_000, 45 * 64 - 1_160]) {
    const columns = columnsInSight(widths, 0, left, 1_160);
    const rows = rowsInSight(731, 30, 3_000, 400);
    expect((columns.to - columns.from) * (rows.to - rows.from)).toBeLessThanOrEqual(400);
    expect(columns.skipped).toBeLessThanOrEqual(left);
    expect(columns.skipped + (columns.to - columns.from) * 64).toBeGreaterThanOrEqual(left + 1_160);
  }
});

test("frozen columns take their room from the others", () => {
  expect(columnsInSight([100, 100, 100, 100], 1, 0, 200)).toEqual({ from: 1, to: 2, skipped: 0 });
  expect(columnsInSight([100, 100, 100, 100], 1, 150, 200)).toEqual({ from: 2, to: 4, skipped: 100 });
});

test("rows in sight end with the rows", () => {
  expect(rowsInSight(3, 30, 0, 400)).toEqual({ from: 0, to: 3 });
  expect(rowsInSight(3, 30, 9_000, 400)).toEqual({ from: 3, to: 3 });
});

test("a grid scrolls as little as it must", () => {
  const cell = { start: 300, size: 30 };
  expect([scrolledTo(cell, 310, 200), scrolledTo(cell, 0, 200), scrolledTo(cell, 200, 200)]).toEqual([
    300,
    130,
    null,
  ]);
});

const columns = [
  { index: 1, format: (cell: unknown) => (cell === 10.1 ? "ten" : String(cell)) },
  { index: 0, format: plain },
];

test("cells are found as they are shown and as they are stored, in the order shown", () => {
  const rowAt = (row: number) => rows[row];
  expect(placesOf("TEN", 4, rowAt, columns)).toEqual([{ row: 0, column: 0 }]);
  expect(placesOf("10.1", 4, rowAt, columns)).toEqual([{ row: 0, column: 0 }]);
  expect(placesOf("a", 4, rowAt, columns)).toEqual([
    { row: 1, column: 1 },
    { row: 3, column: 1 },
  ]);
  expect(placesOf("null", 4, rowAt, columns)).toEqual([]);
  expect(placesOf(" ", 4, rowAt, columns)).toEqual([]);
});

test("a search ends after its most matches", () => {
  expect(placesOf("x", 5_000, () => ["", "x"], columns)).toHaveLength(MOST_MATCHES);
});

test("cells are copied under the names of their columns", () => {
  const selection = { anchor: { row: 1, column: 1 }, focus: { row: 0, column: 0 } };
  expect(asTable(selection, (row) => rows[row], ["name", "amount"])).toEqual({
    text: "name\tamount\nb\t10.1\na\t",
    cells: 4,
  });
});

test.each([
  [{ a: [1] }, '{\n  "a": [\n    1\n  ]\n}'],
  ['{"a": 1}', '{\n  "a": 1\n}'],
  ['{"a": 12345678901234567890}', '{"a": 12345678901234567890}'],
  ["[broken", null],
  ["text", null],
  [12, null],
  [null, null],
])("%j is laid out as %j", (cell, text) => {
  expect(laidOut(cell)).toBe(text);
});

test("names of columns are cut where all columns then fit, and nowhere else", () => {
  const columns = [
    { name: "country", type: "text" },
    { name: "number of customers", type: "integer" },
  ] as const;
  const cells: Row[] = [["United Kingdom", 12]];
  const whole = firstWidths([...columns], cells);
  const fitted = firstWidths([...columns], cells, 280);
  expect(whole.reduce((all, each) => all + each)).toBeGreaterThan(280);
  expect(fitted.reduce((all, each) => all + each)).toBeLessThanOrEqual(280);
  expect(fitted[0]).toBe(whole[0]);
  expect(firstWidths([...columns], cells, 200)).toEqual(whole);
});
