import { expect, test } from "vitest";
import { descriptionOf, fitted, heightOf, isList, planOf, readSpec, stretched } from "./spec";

const WIDE = { width: 880, height: 300 };
const LINE = {
  mark: "line",
  title: "Revenue",
  width: 880,
  height: 300,
  encoding: { y: { type: "quantitative" } },
};
const RANKING = { mark: "bar", ...WIDE, height: 336, encoding: { y: { field: "c0", type: "nominal" } } };
const PANELS = {
  vconcat: [
    { ...LINE, height: 140 },
    { ...LINE, height: 140 },
  ],
};

test("only what has views is a specification", () => {
  expect(readSpec(null)).toBeNull();
  expect(readSpec("bar")).toBeNull();
  expect(readSpec({ data: { values: [] } })).toBeNull();
  for (const spec of [LINE, { layer: [LINE] }, PANELS, { spec: LINE }]) expect(readSpec(spec)).toBe(spec);
});

test("a note of an older server, or of none, is read as far as it goes", () => {
  const none = planOf({ mark: "bar" });
  expect([none.rows, none.mark, none.marks, none.how]).toEqual([null, null, [], []]);
  const older = planOf({
    usermeta: { kai: { rows: 3, shown: "3", how: "Cut.", values: [{ column: 1 }, {}] } },
  });
  expect([older.rows, older.shown, older.how]).toEqual([3, null, ["Cut."]]);
  expect(older.values).toEqual([{ column: 1, how: null }]);
  expect(descriptionOf({ description: 5 })).toBe("");
});

test("the height is known before anything is drawn, and a phone has less", () => {
  expect(heightOf(null, false)).toBe(300);
  expect(heightOf(LINE, true)).toBe(260);
  expect(heightOf({ ...LINE, usermeta: { kai: { narrow_height: 240 } } }, true)).toBe(240);
  expect(heightOf(RANKING, true)).toBe(336);
  expect(heightOf(PANELS, false)).toBe(300);
  expect([isList(RANKING), isList(LINE), isList({ layer: [RANKING] })]).toEqual([true, false, true]);
});

test("a picture of one view is fitted into its place, without its title", () => {
  const small = fitted(LINE, { width: 358, height: 260 });
  expect(small).toMatchObject({ width: 358, height: 260, autosize: { type: "fit", contains: "padding" } });
  expect(small.title).toBeUndefined();
  expect(LINE.title).toBe("Revenue");
});

test("few bars of a list take the room that they are given, and are thicker in it, up to a limit", () => {
  expect([stretched(90, 200), stretched(90, 60), stretched(40, 400)]).toEqual([200, 90, 100]);
  const bars = { ...RANKING, height: 90, mark: { type: "bar", size: 13 } };
  const larger = fitted(bars, { width: 400, height: 180 }) as typeof bars;
  expect([larger.height, larger.mark.size]).toEqual([180, 26]);
  expect((fitted(bars, { width: 400, height: 90 }) as typeof bars).mark.size).toBe(13);
});

test("panels share the height, and each has the whole width", () => {
  const small = fitted(PANELS, { width: 358, height: 240 }) as typeof PANELS;
  expect(small.vconcat.map(({ width, height }) => [width, height])).toEqual([
    [358, 112],
    [358, 112],
  ]);
});

test("small pictures are fewer beside each other where there is less room", () => {
  const facet = { facet: { field: "c1" }, columns: 3, spec: { ...LINE, width: 280, height: 120 } };
  const wide = fitted(facet, { width: 880, height: 120 });
  expect([wide.columns, (wide.spec as typeof LINE).width]).toEqual([3, 280]);
  const narrow = fitted(facet, { width: 358, height: 120 });
  expect([narrow.columns, (narrow.spec as typeof LINE).width]).toEqual([2, 169]);
});
