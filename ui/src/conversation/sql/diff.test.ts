import { expect, test } from "vitest";
import { changesBetween } from "./diff";

const changes = (before: string, after: string) =>
  changesBetween(before, after)
    .filter(({ change }) => change !== "same")
    .map(({ change, text }) => `${change === "added" ? "+" : "-"}${text}`);

test.each([
  ["select a from t", "SELECT\n  a\nFROM t", []],
  ["SELECT a FROM t", "SELECT b FROM t", ["-a", "+b"]],
  ["SELECT a FROM t", "SELECT a FROM t WHERE a > 1", ["+WHERE", "+a", "+>", "+1"]],
  ["SELECT a, b FROM t", "SELECT a FROM t", ["-,", "-b"]],
  ["SELECT 'x'", "SELECT 'X'", ["-'x'", "+'X'"]],
  ["", "SELECT 1", ["+SELECT", "+1"]],
  ["SELECT 1", "", ["-SELECT", "-1"]],
])("from %j to %j the changes are %j", (before, after, expected) => {
  expect(changes(before, after)).toEqual(expected);
});

test("what is not removed is the later statement, letter by letter", () => {
  const after = "WITH x AS (\n  SELECT 1\n)\nSELECT * FROM x";
  const shown = changesBetween("SELECT * FROM x ORDER BY 1", after).filter(
    ({ change }) => change !== "removed",
  );
  expect(shown.map(({ text }) => text).join("")).toBe(after);
});
