import { expect, test } from "vitest";
import { choose, isRead, patternsOf } from "./schemas";

test("patterns take schemas as the server does: none takes all, and ! leaves out", () => {
  expect(patternsOf(" sales_*, !sales_raw\n\nhr ")).toEqual(["sales_*", "!sales_raw", "hr"]);
  const read = (patterns: string[]) =>
    ["Sales_EU", "sales_raw", "hr", "h.r", "a[1]"].filter((name) => isRead(name, patterns));
  expect(read([])).toEqual(["Sales_EU", "sales_raw", "hr", "h.r", "a[1]"]);
  expect(read(["sales_*", "!sales_raw"])).toEqual(["Sales_EU"]);
  expect(read(["h?r", "a[[]1]"])).toEqual(["h.r", "a[1]"]);
  expect(read(["!*_*"])).toEqual(["hr", "h.r", "a[1]"]);
  expect(read(["[z-a]*", "[^-\\]r", "[xi-h-c]r"])).toEqual([]);
  expect(read(["[z-ah]r", "[!z-a]?r", "sales[a-Z_]eu"])).toEqual(["Sales_EU", "hr", "h.r"]);
});

test("ticking a schema changes no pattern but its own", () => {
  expect(choose("raw", false, [])).toEqual(["!raw"]);
  expect(choose("raw", true, ["!RAW"])).toEqual([]);
  expect(choose("hr", true, ["sales_*"])).toEqual(["sales_*", "hr"]);
  expect(choose("hr", false, ["sales_*", "hr"])).toEqual(["sales_*"]);
  expect(choose("sales_raw", false, ["sales_*"])).toEqual(["sales_*", "!sales_raw"]);
  expect(choose("a*", true, ["hr"])).toEqual(["hr", "a[*]"]);
});
