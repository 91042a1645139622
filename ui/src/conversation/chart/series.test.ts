import { expect, test } from "vitest";
import { legendField, withSeries } from "./series";

const COLOR = { field: "c1", type: "nominal" };
const LINES = { mark: "line", encoding: { x: { field: "c0" }, color: COLOR } };

test("a legend of names is the page's; one that is not drawn, or is of numbers, is not", () => {
  expect(legendField(LINES)).toBe("c1");
  expect(legendField({ layer: [LINES, { mark: "text" }] })).toBe("c1");
  expect(legendField({ ...LINES, encoding: { color: { ...COLOR, legend: null } } })).toBeNull();
  expect(legendField({ ...LINES, encoding: { color: { ...COLOR, type: "quantitative" } } })).toBeNull();
  expect(legendField({ layer: [LINES, { mark: "bar", encoding: { color: { field: "c2" } } }] })).toBeNull();
});

test("hidden series are left out, and the others keep their colours", () => {
  const shown = withSeries({ layer: [LINES] }, "c1", ["a", "b"], new Set(["b"]));
  expect(shown).toMatchObject({
    layer: [
      {
        transform: [{ filter: { not: { field: "c1", oneOf: ["b"] } } }],
        encoding: { color: { scale: { domain: ["a", "b"] }, legend: null } },
      },
    ],
  });
});
