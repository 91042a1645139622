import { expect, test } from "vitest";
import { outline } from "./as_json";
import { merged } from "./choice";
import { planOf } from "./spec";

test("a part that is taken back leaves the choice, and an empty choice is none", () => {
  const choice = merged(null, { mark: "line" });
  expect(choice).toEqual({ mark: "line" });
  expect(merged(choice, { limit: 5 })).toEqual({ mark: "line", limit: 5 });
  expect(merged(choice, { mark: null })).toBeNull();
});

test("the form ends a specification of the reader's own", () => {
  expect(merged({ specification: { mark: "bar" } }, { mark: "area" })).toEqual({ mark: "area" });
});

test("a specification begins as the chart that is drawn, with the columns' own names", () => {
  const plan = planOf({
    usermeta: { kai: { mark: "line", across: 0, values: [{ column: 1 }], series: -1 } },
  });
  const columns = [
    { name: "month", type: "date" },
    { name: "sum.net", type: "number" },
  ];
  expect(outline(plan, columns)).toEqual({
    data: { name: "rows" },
    mark: "line",
    encoding: {
      x: { field: "month", type: "temporal" },
      y: { field: "sum\\.net", type: "quantitative" },
      color: undefined,
    },
  });
});
