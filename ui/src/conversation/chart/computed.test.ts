import { expect, test } from "vitest";
import type { ComputedChart } from "../../api/types";
import { computedChart, optionOf } from "./computed";
import type { Settings } from "./build";
import { drawingHeight } from "./height";
import type { Chart } from "./intent";
import { type Node } from "./nodes";
import { sceneOf } from "./scene";

const COLORS = { ink: "#1b1f23", muted: "#5b636b", line: "#e3e3dd", accent: "#0f8b8d", surface: "#ffffff" };
const SETTINGS: Settings = {
  mark: "line",
  across: 0,
  values: [{ column: 1, how: undefined }],
  series: null,
  time: undefined,
};
const x = { field: "a0", type: "temporal", title: "month" };
const y = { field: "v0", type: "quantitative", title: "revenue", stack: null };
const color = { field: "s0", type: "nominal", title: "" };
const PROJECTED = {
  data: {
    values: [
      { a0: "2026-01-01", v0: 100, s0: "revenue", o0: 100 },
      { a0: "2026-02-01", v0: 120, s0: "revenue" },
      { a0: "2026-03-01", v0: 130, s0: "Projection", b0: 110, b1: 150 },
      { a0: "2026-04-01", v0: 140, s0: "Projection", b0: 100, b1: 180 },
    ],
  },
  layer: [
    { mark: { type: "area" }, encoding: { x } },
    { mark: { type: "line" }, encoding: { x, y, color } },
  ],
  usermeta: { kai: { rows: 2, shown: 4, how: "Projection by Holt-Winters." } },
};

function computed(option: Partial<ComputedChart["option"]>, chart: object = PROJECTED): ComputedChart {
  const whole = { kind: "projection" as const, across: 0, value: 1, unit: null, how: "sum" as const };
  return { option: { ...whole, ...option }, chart: chart as ComputedChart["chart"], refusal: null };
}

function classes(chart: Chart): string[] {
  const setting = { width: 640, height: drawingHeight(chart), colors: COLORS, hidden: new Set<string>() };
  const of = (nodes: (Node | string)[]): string[] =>
    nodes.flatMap((each) =>
      typeof each === "string" ? [] : [String(each.attributes.class), ...of(each.children)],
    );
  return of(sceneOf(chart, { ...setting, direct: true }).nodes);
}

test("a projection has a line of its own, a band in the range of the axis, and rings", () => {
  const chart = computedChart(computed({}), SETTINGS, { title: "Ahead" });
  expect(chart).toMatchObject({
    mark: "line",
    computed: true,
    heading: "Ahead",
    how: "Projection by Holt-Winters.",
    rows: 2,
  });
  const drawn = classes(chart as Chart);
  expect(drawn.filter((each) => each === "band")).toHaveLength(1);
  expect(drawn.filter((each) => each === "ring")).toHaveLength(1);
  const setting = { width: 640, height: 350, colors: COLORS, hidden: new Set<string>(), direct: true };
  const { stops, plot } = sceneOf(chart as Chart, setting);
  expect(stops.at(-1)?.entries[0]?.text).toBe("140 (100 – 180)");
  expect(stops.at(-1)?.y).toBeGreaterThan(plot.top + 10);
});

test("a change is drawn in percent", () => {
  const change = {
    ...PROJECTED,
    layer: [{ mark: { type: "bar" }, encoding: { x, y: { ...y, axis: { format: ".1~%" } } } }],
  };
  const chart = computedChart(computed({ kind: "change" }, change), SETTINGS, {});
  expect(chart).toMatchObject({ mark: "bar", numbers: { format: "percent", unit: "" } });
});

test("what was computed of other columns or another unit of time is not drawn", () => {
  expect(computedChart(computed({ value: 2 }), SETTINGS, {})).toBeNull();
  expect(computedChart(computed({ unit: "quarter" }), SETTINGS, {})).toBeNull();
  expect(computedChart(computed({}), { ...SETTINGS, series: 2 }, {})).toBeNull();
  expect(computedChart(null, SETTINGS, {})).toBeNull();
});

test("values of several rows are put together as the chart does; series are left to the server", () => {
  expect(optionOf("projection", SETTINGS, true, 3)).toEqual({
    kind: "projection",
    across: 0,
    value: 1,
    unit: null,
    how: "sum",
    window: null,
  });
  const monthly = { ...SETTINGS, time: "month" as const, values: [{ column: 1, how: "median" as const }] };
  expect(optionOf("moving_average", monthly, false, 3)).toMatchObject({
    unit: "month",
    how: "median",
    window: 3,
  });
  expect(optionOf("outliers", { ...SETTINGS, series: 2 }, true, null).how).toBeNull();
});
