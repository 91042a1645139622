import { expect, test } from "vitest";
import { tokensOf } from "./sql_tokens";

const marked = (sql: string) =>
  tokensOf(sql)
    .filter(({ kind }) => kind !== "other")
    .map(({ kind, text }) => `${kind}:${text}`);

test("keywords, names, strings, numbers and comments differ", () => {
  expect(marked("SELECT month, 'it''s' AS \"from\" FROM t -- where\nLIMIT 1.5e3 /* x */")).toEqual([
    ...["keyword:SELECT", "name:month", "string:'it''s'", "keyword:AS", 'name:"from"', "keyword:FROM"],
    ...["name:t", "comment:-- where", "keyword:LIMIT", "number:1.5e3", "comment:/* x */"],
  ]);
});

test.each(["", "'open", '"open', "/* open", "$$ open", "`open", "a\u0000b", "ä.ß <> '😀'", "<img src=x>"])(
  "the tokens of %j together are the statement",
  (sql) => {
    expect(
      tokensOf(sql)
        .map(({ text }) => text)
        .join(""),
    ).toBe(sql);
  },
);

test("a long statement without an end of its quotes is read in linear time", () => {
  expect(tokensOf(`${"'".repeat(100_001)}${"/*".repeat(50_000)}`).length).toBeGreaterThan(0);
});
