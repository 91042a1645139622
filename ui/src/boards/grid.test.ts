import { expect, test } from "vitest";
import { COLUMNS, filled, moved, placeAt, placeFor } from "./grid";

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

test("tiles of one height fill their rows on a screen of middle width", () => {
  const tile = (width: number, height: number) => ({ width, height });
  expect(filled([tile(3, 1), tile(3, 1), tile(6, 3), tile(6, 3)])).toEqual([6, 6, 6, 6]);
  expect(filled([tile(3, 1), tile(3, 1), tile(3, 1), tile(3, 1)])).toEqual([6, 6, 6, 6]);
  expect(filled([tile(6, 3), tile(4, 3), tile(8, 2), tile(2, 1)])).toEqual([7, 5, 12, 12]);
  for (let count = 0; count < 3 ** 5; count++) {
    const tiles = [1, 3, 9, 27, 81].map((by) => tile(2 + 5 * (Math.floor(count / by) % 3), 1));
    const widths = filled(tiles);
    let row = 0;
    for (const width of widths) row = row === COLUMNS ? width : row + width;
    expect(row).toBe(COLUMNS);
  }
});
