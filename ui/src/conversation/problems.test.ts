import { expect, test } from "vitest";
import type { Problem } from "../api/types";
import { NOTHING } from "./model";
import { isRefusal, offered } from "./problems";

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
  const builtIn = problem("question-not-understood", "KAI only reads data and never changes it.");
  expect(isRefusal(builtIn, NOTHING)).toBe(true);
});

test("the questions that a decline quotes are offered", () => {
  const detail = "I did not understand all of this. “How many orders?” and “Orders per month?” work.";
  expect(offered(problem("question-not-understood", detail))).toEqual([
    "How many orders?",
    "Orders per month?",
  ]);
  expect(offered(problem("question-not-understood", "KAI reads English."))).toEqual([]);
  expect(offered(problem("statement-failed", detail))).toEqual([]);
});
