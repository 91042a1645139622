import { expect, test } from "vitest";
import { PLAIN_NUMBERS, readChart } from "./intent";

const x = { field: "c1", type: "quantitative", title: "revenue" };
const y = { field: "c0", type: "nominal", title: "country", sort: null };
const data = { values: [{ c0: "Norway", c1: 3 }] };
const bars = { mark: { type: "bar" }, encoding: { x, y }, data };

test("lying bars are read as a value by a category", () => {
  expect(readChart(bars)).toEqual({
    mark: "bar",
    across: { field: "c0", kind: "nominal", title: "country" },
    value: { field: "c1", kind: "quantitative", title: "revenue" },
    series: null,
    second: null,
    computed: false,
    covered: null,
    heading: "",
    numbers: PLAIN_NUMBERS,
    adds: true,
    how: "",
    rows: 1,
    data: [{ c0: "Norway", c1: 3 }],
  });
});

test("a pie is read as a value by colour", () => {
  const pie = readChart({ mark: "arc", encoding: { theta: x, color: y }, data });
  expect([pie?.across.title, pie?.value.title]).toEqual(["country", "revenue"]);
});

test("what was added up, and what may not be, is read", () => {
  const spec = {
    ...bars,
    encoding: { x: { ...x, stack: null }, y },
    usermeta: { kai: { rows: 977, shown: 20, how: "The other 957 are left out." } },
  };
  expect(readChart(spec)).toMatchObject({ adds: false, rows: 977, how: "The other 957 are left out." });
});

const hostile: Record<string, Record<string, unknown>> = {
  "an expression as a mark": { ...bars, mark: { type: { expr: "alert(1)" } } },
  "an unknown mark": { ...bars, mark: "image" },
  "a field that is a path": { ...bars, encoding: { x: { ...x, field: "c1']['constructor" }, y } },
  "data by address": { ...bars, data: { url: "https://example.com/data.json" } },
  "an unknown kind": { ...bars, encoding: { x: { ...x, type: "geojson" }, y } },
  "no encoding": { mark: "bar", data },
};

test.each(Object.entries(hostile))("%s is no chart", (_, spec) => {
  expect(readChart(spec)).toBeNull();
});

test("what is not named does not come through", () => {
  const spec = {
    ...bars,
    transform: [{ calculate: "alert(1)", as: "c0" }],
    params: [{ name: "p", bind: "location" }],
    usermeta: { embedOptions: { loader: {} } },
    encoding: { x: { ...x, axis: { labelExpr: "alert(1)" } }, y, href: { value: "https://example.com" } },
    data: { values: [{ c0: { toString: "x" }, c1: 3, __proto__: null, url: "https://example.com" }] },
  };
  expect(JSON.stringify(readChart(spec))).not.toMatch(/alert|example|location|loader|toString/);
});
