import { expect, test } from "vitest";
import type { Problem } from "../api/types";
import { NOTHING } from "./model";
import { guessed, isRefusal } from "./problems";

const problem = (type: string, detail: string): Problem => ({
  type: `urn:kai:${type}`,
  title: "T",
  status: 422,
  detail,
});

test("a refused change is no error, a statement that failed is one", () => {
  const failed = problem("statement-failed", "Only queries may run.");
  expect(isRefusal(failed, { ...NOTHING, sql: " DELETE FROM orders" })).toBe(true);
  expect(isRefusal(failed, { ...NOTHING, sql: "SELECT nmae FROM orders" })).toBe(false);
  const builtIn = problem("question-not-understood", "I only read data, I never change it.");
  expect(isRefusal(builtIn, NOTHING)).toBe(true);
});

test("a guessed word takes the place of the unknown one", () => {
  const unknown = problem(
    "question-not-understood",
    "I find nothing in this database for “prodct”. Did you mean “product”?",
  );
  expect(guessed("Revenue by Prodct", unknown)).toBe("Revenue by product");
  expect(guessed("Revenue", unknown)).toBeNull();
  expect(guessed("Revenue", problem("statement-failed", "No."))).toBeNull();
});
