import { expect, test } from "vitest";
import { moved, placeAt, placeFor } from "./grid";

const box = (left: number, top: number) => ({ left, top, width: 100, height: 100 });
/** Two rows: three tiles, then two. */
const BOXES = [box(0, 0), box(100, 0), box(200, 0), box(0, 100), box(100, 100)];

test("an item moves to a place, and not beyond the ends", () => {
  expect(moved(["a", "b", "c"], 0, 2)).toEqual(["b", "c", "a"]);
  expect(moved(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
  expect(moved(["a", "b"], 0, 9)).toEqual(["b", "a"]);
  expect(moved(["a", "b"], 5, 0)).toEqual(["a", "b"]);
});

test("left and right move by one place", () => {
  expect(placeFor("ArrowRight", 0, BOXES)).toBe(1);
  expect(placeFor("ArrowLeft", 0, BOXES)).toBe(0);
  expect(placeFor("ArrowRight", 4, BOXES)).toBe(4);
});

test("up and down move to the nearest tile of the next row", () => {
  expect(placeFor("ArrowDown", 1, BOXES)).toBe(4);
  expect(placeFor("ArrowDown", 2, BOXES)).toBe(4);
  expect(placeFor("ArrowUp", 3, BOXES)).toBe(0);
  expect(placeFor("ArrowUp", 0, BOXES)).toBe(0);
});

test("a point is on one tile or on none", () => {
  expect(placeAt(150, 50, BOXES)).toBe(1);
  expect(placeAt(250, 150, BOXES)).toBeNull();
});
