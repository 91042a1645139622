import { expect, test } from "vitest";
import { changeOf } from "./period";

test("a change is a percentage of what was before", () => {
  expect(changeOf(208, 200)).toBe("+4%");
  expect(changeOf("150.00", "200.00")).toBe("-25%");
  expect(changeOf(-5, -10)).toBe("+50%");
  expect(changeOf(7, 7)).toBe("0%");
});

test("without a number before there is no percentage", () => {
  expect(changeOf(5, 0)).toBe("");
  expect(changeOf(5, null)).toBe("");
  expect(changeOf(null, 5)).toBe("");
});
