import { expect, test } from "vitest";
import type { Column, Row } from "../../api/types";
import { built, settingsOf } from "./build";
import { type Choice, dressed, marks, needsRows, readChoice } from "./choices";
import { type Chart, PLAIN_NUMBERS } from "./intent";

const columns: Column[] = [
  { name: "day", type: "date" },
  { name: "region", type: "text" },
  { name: "customers", type: "integer" },
  { name: "price", type: "number" },
];
const rows: Row[] = [
  ["2026-01-05", "North", 3, 1.5],
  ["2026-01-06", "South", 5, 2.5],
  ["2026-01-20", "North", 4, 3.5],
  ["2026-02-01", "South", 8, 10],
];

function made(
  choice: Choice,
  base: Chart | null = null,
  of: { columns: Column[]; rows: Row[] } = { columns, rows },
): Chart {
  return built(base, settingsOf(base, choice, of.columns, of.rows), choice, of);
}

const values = (chart: Chart, field = "v0") => chart.data.map((each) => each[field]);
const places = (chart: Chart) => chart.data.map((each) => each.a0);

test("rows without a proposed chart are drawn over their dates, else over their names", () => {
  const chart = made({});
  expect([chart.mark, chart.across.title, chart.value.title]).toEqual(["line", "day", "customers"]);
  expect(values(chart)).toEqual([3, 5, 4, 8]);
  const named = made({ across: 1 }, null, {
    columns: columns.slice(1),
    rows: rows.map((row) => row.slice(1)),
  });
  expect(named.across.kind).toBe("nominal");
});

test.each([
  ["sum", [7, 13]],
  ["mean", [3.5, 6.5]],
  ["count", [2, 2]],
  ["median", [3.5, 6.5]],
] as const)("values of one place are put together by %s, and the chart says so", (how, expected) => {
  const chart = made({ mark: "bar", across: 1, values: [{ column: 2, how }] });
  expect(places(chart)).toEqual(["North", "South"]);
  expect(values(chart)).toEqual(expected);
  expect(chart.how).toBe(`Each point is the ${how} of the rows of one region.`);
});

test("without a choice, only what the server adds up is added up", () => {
  const base: Chart = {
    mark: "bar",
    across: { field: "c1", kind: "nominal", title: "region" },
    value: { field: "c2", kind: "quantitative", title: "customers" },
    series: null,
    second: null,
    adds: true,
    how: "",
    rows: 2,
    data: [{ c1: "North", c2: 7 }],
    computed: false,
    covered: null,
    heading: "",
    numbers: PLAIN_NUMBERS,
  };
  expect(values(made({ across: 1 }, base))).toEqual([7, 13]);
  expect(values(made({ across: 1 }, { ...base, adds: false }))).toEqual([3.5, 6.5]);
});

test("days become weeks, months, quarters and years", () => {
  const of = (time: Choice["time"]) => places(made({ time, values: [{ column: 2, how: "sum" }] }));
  expect(of("week")).toEqual(["2026-01-05", "2026-01-19", "2026-01-26"]);
  expect(of("month")).toEqual(["2026-01-01", "2026-02-01"]);
  expect(of("quarter")).toEqual(["2026-01-01"]);
  expect(of("year")).toEqual(["2026-01-01"]);
});

test("several values are series, or bars and a line", () => {
  const both = [{ column: 2 }, { column: 3 }];
  const lines = made({ values: both });
  expect(new Set(lines.data.map((each) => each.s0))).toEqual(new Set(["customers", "price"]));
  const combo = made({ mark: "combo", values: both });
  expect([combo.second?.title, values(combo, "v1")]).toEqual(["price", [1.5, 2.5, 3.5, 10]]);
  expect(made({ mark: "combo" }).second?.title).toBe("price");
});

test("heat maps and stacks find a second column of names by themselves", () => {
  expect(made({ mark: "heat" }).series?.title).toBe("region");
  const stack = made({ mark: "percent", values: [{ column: 2, how: "sum" }] });
  expect([stack.mark, stack.series?.title]).toEqual(["percent", "region"]);
});

function many(count: number): { columns: Column[]; rows: Row[] } {
  const names = Array.from({ length: count }, (_, at): Row => [`P${at}`, count - at]);
  return {
    columns: [
      { name: "product", type: "text" },
      { name: "sold", type: "integer" },
    ],
    rows: names,
  };
}

test("a pie of 92 slices has the highest seven and the others", () => {
  const chart = made({ mark: "arc", values: [{ column: 1, how: "sum" }] }, null, many(92));
  expect(places(chart)).toEqual(["P0", "P1", "P2", "P3", "P4", "P5", "P6", "Other (85)"]);
  expect(values(chart).reduce((sum: number, each) => sum + Number(each), 0)).toBe((92 * 93) / 2);
  expect(chart.how).toContain(
    "Of 92 values of product, the 7 highest are shown; the others are added up as Other (85).",
  );
});

test("beyond 30 names the others are added up, or left out where a sum would mean nothing", () => {
  expect(places(made({ mark: "bar", values: [{ column: 1, how: "sum" }] }, null, many(50))).at(-1)).toBe(
    "Other (30)",
  );
  const means = made({ mark: "bar", values: [{ column: 1, how: "mean" }] }, null, many(50));
  expect(places(means)).toHaveLength(20);
  expect(means.how).toContain("the others are left out");
});

test("slices and stacks of means are bars, and the chart says why", () => {
  for (const mark of ["arc", "stacked", "percent"] as const) {
    const chart = made({ mark, across: 1, values: [{ column: 3, how: "mean" }] });
    expect(chart.mark).toBe("bar");
    expect(chart.how).toContain("not parts of a whole");
  }
});

test("a histogram counts every row once", () => {
  const chart = made({ mark: "histogram", values: [{ column: 1 }] }, null, many(1_000));
  expect(values(chart).reduce((sum: number, each) => sum + Number(each), 0)).toBe(1_000);
  expect(chart.data.length).toBeLessThanOrEqual(25);
});

test("more than 2,000 days become a coarser unit, and more points than that are thinned out", () => {
  const days = Array.from({ length: 3_000 }, (_, at): Row => [
    new Date(Date.UTC(2016, 0, 4 + at)).toISOString().slice(0, 10),
    1,
  ]);
  const dated: Column[] = [
    { name: "day", type: "date" },
    { name: "orders", type: "integer" },
  ];
  const weeks = made({ values: [{ column: 1, how: "sum" }] }, null, { columns: dated, rows: days });
  expect(weeks.data.length).toBe(429);
  expect(values(weeks).reduce((sum: number, each) => sum + Number(each), 0)).toBe(3_000);
  expect(weeks.how).toContain("one week of day");
  const points = made({ mark: "point", across: 1 }, null, many(5_000));
  expect(points.data.length).toBeLessThanOrEqual(2_000);
});

test("names are ordered by value, by name or naturally; weekdays without being asked", () => {
  const week: Row[] = [
    ["Wed", 5],
    ["Mon", 1],
    ["Fri", 9],
  ];
  const of = { columns: many(1).columns, rows: week };
  expect(places(made({}, null, of))).toEqual(["Mon", "Wed", "Fri"]);
  expect(places(made({ sort: "rows" }, null, of))).toEqual(["Wed", "Mon", "Fri"]);
  expect(places(made({ sort: "value" }, null, of))).toEqual(["Fri", "Wed", "Mon"]);
  expect(places(made({ sort: "name" }, null, of))).toEqual(["Fri", "Mon", "Wed"]);
});

test("mark, title and numbers are changed without the rows", () => {
  const base = made({ mark: "bar", across: 1, values: [{ column: 2, how: "sum" }] });
  const choice: Choice = { mark: "line", title: "Mine", format: "compact", unit: "EUR" };
  expect(needsRows(base, choice)).toBe(false);
  expect(needsRows(base, { mark: "histogram" })).toBe(true);
  const chart = dressed(base, choice);
  expect(chart.data).toEqual(base.data);
  expect([chart.mark, chart.heading, chart.numbers]).toEqual([
    "line",
    "Mine",
    { format: "compact", unit: "EUR" },
  ]);
});

test("a pie is offered only of what adds up and is not below zero", () => {
  const base = made({ mark: "bar", across: 1, values: [{ column: 2, how: "sum" }] });
  expect(marks(base)).toContain("arc");
  expect(marks({ ...base, adds: false })).not.toContain("arc");
  expect(marks({ ...base, data: [{ a0: "x", v0: -1 }] })).not.toContain("arc");
});

test("of a stored choice, only what this page knows is read", () => {
  const choice = {
    mark: "line",
    across: 1,
    values: [{ column: 2, how: "sum" }],
    series: -1,
    title: "T",
    unit: "EUR",
  };
  expect(readChoice(choice, 4)).toEqual(choice);
  expect(
    readChoice({ mark: "image", across: 9, values: [{ column: -1 }, 3], series: 1.5, title: 4 }, 4),
  ).toEqual({});
  for (const raw of [null, 3, "bar", [], { values: "x" }]) expect(readChoice(raw, 4)).toEqual({});
});
