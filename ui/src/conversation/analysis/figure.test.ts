import { expect, test } from "vitest";
import { withFigure } from "./figure";

test("the figure of a headline is its source's, a share, or the last that is no year", () => {
  expect(withFigure("Revenue rose by 19.6% on 2025, to 5,352", null)).toBe(
    "Revenue rose by *19.6%* on 2025, to 5,352",
  );
  expect(withFigure("Number of customers: 2,418", "2,418")).toBe("Number of customers: *2,418*");
  expect(withFigure("Brazil has the most: 2 of 5", "2")).toBe("Brazil has the most: *2* of 5");
  expect(withFigure("March 2026 is the best month: €5.32 M", null)).toBe(
    "March 2026 is the best month: *€5.32* M",
  );
  expect(withFigure("No orders in 2026", null)).toBe("No orders in 2026");
});
