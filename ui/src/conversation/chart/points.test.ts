import { expect, test } from "vitest";
import { type Item, type Mark, moved, nearest, pointsIn } from "./points";

const symbol = (x: number, y: number, said: string, row?: number): Item => ({ x, y, datum: { said, row } });
const mark = (name: string, marktype: string, items: Item[]): Mark => ({
  name,
  marktype,
  role: "mark",
  items,
});
const inGroup = (...marks: Mark[]): Mark => ({
  marktype: "group",
  items: [{ x: 10, y: 20, width: 300, height: 200, items: marks }],
});

test("the points are those of the marks that the specification names so, in the drawing's coordinates", () => {
  const named = mark("points_marks", "symbol", [symbol(5, 6, "March: 3", 0), symbol(15, 8, "April: 4", 1)]);
  const gaps = mark("layer_0_marks", "rect", [
    { description: "a gap", bounds: { x1: 0, y1: 0, x2: 9, y2: 9 } },
  ]);
  const points = pointsIn(inGroup(gaps, named), 100, 0);
  expect(points.map(({ x, y, said, row }) => [x, y, said, row])).toEqual([
    [115, 26, "March: 3", 0],
    [125, 28, "April: 4", 1],
  ]);
});

test("panels have their points one after the other, and marks of a line and its dots are one point", () => {
  const line = mark("points_layer_0_marks", "line", [symbol(5, 6, "March: 3")]);
  const dots = mark("points_layer_1_marks", "symbol", [symbol(5, 6, "March: 3")]);
  const other = mark("points_1_marks", "symbol", [symbol(5, 90, "March: 9")]);
  expect(pointsIn(inGroup(line, dots, other)).map(({ said }) => said)).toEqual(["March: 3", "March: 9"]);
});

test("without such names all that is described is a point; gaps of a line and words are none", () => {
  const bars = mark("marks", "rect", [{ description: "a: 1", bounds: { x1: 0, y1: 10, x2: 20, y2: 30 } }]);
  const line = mark("layer_1_marks", "line", [{ ...symbol(5, 6, "none"), defined: false }]);
  const text = mark("layer_2_marks", "text", [symbol(1, 1, "a word")]);
  const [bar, ...others] = pointsIn(inGroup(bars, line, text));
  expect(others).toEqual([]);
  expect(bar?.box).toEqual({ left: 10, top: 30, right: 30, bottom: 50 });
});

test("a pointer means the nearest point, of a line also from above, and none from afar", () => {
  const line = pointsIn(inGroup(mark("points_marks", "line", [symbol(0, 100, "a"), symbol(200, 100, "b")])));
  expect([nearest(line, 20, 40), nearest(line, 205, 200), nearest(line, 110, 110)]).toEqual([0, 1, null]);
  expect(nearest([], 0, 0)).toBeNull();
});

test("keys move from point to point and to both ends", () => {
  expect(["ArrowRight", "ArrowLeft", "Home", "End", "Enter"].map((key) => moved(key, null, 3))).toEqual([
    0,
    2,
    0,
    2,
    null,
  ]);
  expect([moved("ArrowRight", 2, 3), moved("ArrowUp", 0, 3), moved("Home", null, 0)]).toEqual([2, 0, null]);
});

test("on a map the pointer means the country that it is on, whose box has others, too", () => {
  const outlines = ["M0,0L90,0L90,90L0,90ZM400,0L401,0L401,1Z", "M40,40L60,40L60,60Z"].map(
    (d) => ({ getAttribute: () => d }) as unknown as Element,
  );
  const [large = null, small = null] = outlines;
  const places = ["large", "small"].map((said, at) => ({ datum: { said }, _svg: outlines[at] ?? null }));
  const points = pointsIn(inGroup(mark("points_marks", "shape", places)));
  expect([large, small, null].map((each) => nearest(points, 60, 75, each))).toEqual([0, 1, null]);
  expect(points[0]?.box, "of its mainland").toEqual({ left: 10, top: 20, right: 100, bottom: 110 });
});
