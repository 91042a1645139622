import { expect, test } from "vitest";
import { bands, linear, mixed, time } from "./scales";

const DAY = 86_400_000;

test.each([
  [[0, 1], 5, [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [[-6_000_000.5, 7_000_000.25], 4, [-5_000_000, 0, 5_000_000]],
  [[0.00001, 0.00003], 4, [0.00001, 0.000015, 0.00002, 0.000025, 0.00003]],
  [[3, 3], 4, [3]],
] as const)("the round values of %j, about %i of them", (domain, most, ticks) => {
  expect(linear([...domain], [0, 100]).ticks(most)).toEqual(ticks);
});

test("a widened domain ends at round values", () => {
  const scale = linear([0.3, 97.2], [0, 200], 5);
  expect([scale(0), scale(50), scale(100)]).toEqual([0, 100, 200]);
});

test.each([
  [1_000, "2024-01-01T00:00:00.000Z", 5],
  [DAY, "2024-02-27", 6],
  [3 * DAY, "2023-12-30", 4],
  [40 * DAY, "2024-01-20", 6],
  [400 * DAY, "2023-11-21", 5],
  [731 * DAY, "2024-11-21", 8],
  [200 * 365.25 * DAY, "1825-01-01", 10],
])(
  "the ticks over %i ms are in order, at even distances and about as many as wanted",
  (span, first, most) => {
    const from = new Date(first);
    const ticks = time([from, new Date(from.getTime() + span)], [0, 1]).ticks(most);
    const gaps = ticks.slice(1).map((tick, at) => tick.getTime() - (ticks[at]?.getTime() ?? 0));
    expect(ticks.length).toBeGreaterThan(most / 3);
    expect(ticks.length).toBeLessThan(most * 2);
    expect(Math.min(...gaps)).toBeGreaterThan(Math.max(...gaps) * 0.45); // the 31st is followed by the 1st
  },
);

test("bands fill the range with equal gaps, in the order of their numbers", () => {
  const scale = bands([2, 0, 1], [0, 340], 0.4);
  expect([scale.step, scale.width]).toEqual([100, 60]);
  expect([scale(2), scale(0), scale(1), scale(7)]).toEqual([40, 140, 240, undefined]);
});

test("a colour between two", () => {
  expect(mixed("#000000", "#ff8000", 0.5)).toBe("rgb(128, 64, 0)");
});
