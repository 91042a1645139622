/** Specifications as the server sends them, and hostile ones, drawn by Vega without a browser. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pointsOf } from "./points";
import { draw } from "./runtime";
import { fitted, readSpec, recordOf, type Spec } from "./spec";

const STREAMS = import.meta.glob<{ messages: Record<string, unknown>[] }>("../golden_streams/*.json", {
  eager: true,
  import: "default",
});
const CHARTS = Object.entries(STREAMS).flatMap(([name, { messages }]) =>
  messages.flatMap((each): [string, Spec][] => {
    const spec = readSpec(each.chart);
    return spec ? [[name, spec]] : [];
  }),
);
const DATA = { values: [{ c0: "a", c1: 1 }] };
const BARS = {
  data: DATA,
  mark: "bar",
  encoding: { x: { field: "c0", type: "nominal" }, y: { field: "c1", type: "quantitative" } },
};
const EVIL = "https://evil.example/x";
const HOSTILE: [string, Spec][] = [
  ["data by address", { ...BARS, data: { url: `${EVIL}.json` } }],
  ["an image", { data: DATA, mark: "image", encoding: { url: { value: `${EVIL}.png` } } }],
  ["a link", { ...BARS, encoding: { ...BARS.encoding, href: { value: "javascript:globalThis.hacked=1" } } }],
  [
    "an expression",
    { ...BARS, transform: [{ calculate: "constructor.constructor('hacked=1')()", as: "x" }] },
  ],
  ["a label that runs", { ...BARS, title: { expr: "toString.constructor('hacked=1')()" } }],
  [
    "looked up data",
    { ...BARS, transform: [{ lookup: "c0", from: { data: { url: EVIL }, key: "k", fields: ["z"] } }] },
  ],
];
let asked: unknown[];

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", (address: unknown) => {
    asked.push(address);
    return Promise.reject(new Error("no network"));
  });
  // As the page's policy: text never becomes code.
  vi.stubGlobal("Function", () => {
    throw new EvalError("no code from text");
  });
});

afterEach(() => vi.unstubAllGlobals());

test("the streams have charts", () => expect(CHARTS.length).toBeGreaterThan(2));

test("a map finds the shapes of its countries", async () => {
  const world = { name: "world", format: { type: "topojson", feature: "countries" } };
  const map: Spec = {
    data: { values: [{ id: "DE", said: "Germany: 3" }] },
    width: 300,
    height: 200,
    projection: { type: "mercator" },
    name: "points",
    transform: [{ lookup: "id", from: { data: world, key: "id" }, as: "place" }],
    mark: "geoshape",
    encoding: { shape: { field: "place", type: "geojson" }, description: { field: "said", type: "nominal" } },
    usermeta: { kai: { mark: "map" } },
  };
  const view = await draw(map, "light");
  expect(pointsOf(view).map(({ said, box }) => [said, (box?.right ?? 0) > (box?.left ?? 0)])).toEqual([
    ["Germany: 3", true],
  ]);
});

test.each(CHARTS)("the chart of %s is drawn light and dark, and has points", async (_, spec) => {
  for (const theme of ["light", "dark"] as const) {
    const view = await draw(fitted(spec, { width: 640, height: 300 }), theme);
    const points = pointsOf(view);
    expect(points.length).toBeGreaterThan(0);
    expect(points.every(({ x, y }) => x >= 0 && y >= 0 && x <= 640 && y <= 300)).toBe(true);
    expect(await view.toSVG()).toContain("<svg");
    view.finalize();
  }
});

test.each(HOSTILE)("%s is not loaded, and nothing of it runs", async (_, spec) => {
  let svg = "";
  try {
    const view = await draw(fitted(spec, { width: 640, height: 300 }), "light");
    svg = await view.toSVG();
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
  }
  expect(asked).toEqual([]);
  expect(recordOf(globalThis).hacked).toBeUndefined();
  expect(svg).not.toMatch(/evil\.example|javascript:/);
});

test("times that are numbers are drawn where they belong, without code from text", async () => {
  const [from, to] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 2, 1)];
  const x = { field: "c0", type: "temporal", scale: { type: "utc", domain: [from, to] } };
  const axis = { values: [from, to], labelExpr: "utcFormat(datum.value, '%B')" };
  const y = { field: "c1", type: "quantitative" };
  const data = { values: [{ c0: "2026-02-01", c1: 1 }] };
  const view = await draw({ data, mark: "point", encoding: { x: { ...x, axis }, y } }, "light");
  const svg = await view.toSVG();
  expect(svg).toContain(">January<");
  expect(svg).toContain(">March<");
});
