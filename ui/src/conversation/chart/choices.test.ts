import { expect, test } from "vitest";
import { AnswerRows } from "../rows/answer_rows";
import { channels, chosen, marks } from "./choices";
import type { Chart } from "./intent";

const columns = [
  { name: "Country", type: "text" },
  { name: "region", type: "text" },
  { name: "customers", type: "integer" },
];
const loaded = [
  ["Norway", "North", 3],
  ["Brazil", "South", 5],
  ["Sweden", "North", 4],
];
const chart: Chart = {
  mark: "bar",
  across: { field: "c0", kind: "nominal", title: "country" },
  value: { field: "c2", kind: "quantitative", title: "customers" },
  series: null,
  adds: true,
  how: "",
  data: [
    { c0: "Brazil", c2: 5 },
    { c0: "Other (2)", c2: 7 },
  ],
};

function rowsOf(rowCount: number): AnswerRows {
  return new AnswerRows("s1", { columns, rows: [], rowCount, cutBy: null });
}

test("other columns are offered where every row can be drawn, and only there", () => {
  expect(channels(chart, rowsOf(3)).map((each) => each.title)).toEqual(["country", "customers", "region"]);
  expect(channels(chart, rowsOf(2_001)).map((each) => each.title)).toEqual(["country", "customers"]);
  expect(channels(chart, null)).toHaveLength(2);
});

test("another mark draws the server's points", () => {
  expect(chosen(chart, { mark: "line" }, rowsOf(3), []).data).toBe(chart.data);
});

test("another column draws the rows themselves, once all are there", () => {
  const choice = { across: "r1" };
  expect(chosen(chart, choice, rowsOf(3), loaded.slice(0, 2))).toBe(chart);
  const shown = chosen(chart, choice, rowsOf(3), loaded);
  expect(shown.data.map((each) => each.r2)).toEqual([3, 5, 4]);
  expect([shown.across.field, shown.value.field]).toEqual(["r1", "r2"]);
});

test("several values of one place are points where they may not be added up", () => {
  const shown = chosen({ ...chart, adds: false }, { across: "r1" }, rowsOf(3), loaded);
  expect(shown.mark).toBe("point");
  expect(shown.how).toBe("Several values have the same region: each is a point.");
});

test("a pie is offered only of what adds up and is not below zero", () => {
  expect(marks(chart)).toContain("arc");
  expect(marks({ ...chart, adds: false })).not.toContain("arc");
  expect(marks({ ...chart, data: [{ c0: "Brazil", c2: -5 }] })).not.toContain("arc");
});
