import { expect, test } from "vitest";
import type { Row } from "../../api/types";
import { formatOf, plain } from "./format";
import { asTable, moved } from "./selection";
import { nextSorting, order } from "./sort";

const rows: Row[] = [
  ["b", 10],
  ["a", null],
  ["C", 9],
  ["a", "12345678901234567890"],
];

test("numbers are ordered as numbers, nulls last either way", () => {
  expect(order(rows, { column: 1, descending: false }, true)).toEqual([2, 0, 3, 1]);
  expect(order(rows, { column: 1, descending: true }, true)).toEqual([3, 0, 2, 1]);
});

test("text is ordered as people do, equal rows keep their order", () => {
  expect(order(rows, { column: 0, descending: false }, false)).toEqual([1, 3, 0, 2]);
});

test("a third click brings the order of the answer back", () => {
  const once = nextSorting(null, 1);
  const twice = nextSorting(once, 1);
  expect([once?.descending, twice?.descending, nextSorting(twice, 1)]).toEqual([false, true, null]);
});

test("the decimals of a column line up", () => {
  const format = formatOf({ name: "amount", type: "number" }, 0, [[1.5], [1200.25]]);
  expect([format(1.5), format(1200.25)].map((each) => each.split(/[.,]/).at(-1)?.length)).toEqual([2, 2]);
});

test("what a double adds to a sum is no decimal", () => {
  const format = formatOf({ name: "sum", type: "number" }, 0, [[0.1 + 0.2]]);
  expect(format(0.1 + 0.2)).toMatch(/^0[.,]3$/);
});

test("a number too long for a double keeps every digit", () => {
  const format = formatOf({ name: "id", type: "integer" }, 0, []);
  expect(format("12345678901234567890")).toBe("12345678901234567890");
});

test("a date is the same day in every zone, and what is no date stays as it is", () => {
  const format = formatOf({ name: "day", type: "date" }, 0, []);
  expect(format("2025-03-01")).toContain("2025");
  expect(format("2025-03-01")).toMatch(/\b0?1\b/);
  expect(format("soon")).toBe("soon");
});

test("cells are copied as a spreadsheet takes them", () => {
  const area = { anchor: { row: 1, column: 1 }, focus: { row: 0, column: 0 } };
  expect(asTable(area, (row) => rows[row])).toEqual({ text: "b\t10\na\t", cells: 4 });
  expect(plain({ a: 1 })).toBe('{"a":1}');
});

test("keys move within the table", () => {
  const last = { row: 3, column: 1 };
  expect(moved({ row: 3, column: 1 }, "ArrowDown", last)).toEqual({ row: 3, column: 1 });
  expect(moved({ row: 3, column: 1 }, "Home", last)).toEqual({ row: 3, column: 0 });
  expect(moved({ row: 0, column: 0 }, "x", last)).toBeNull();
});
