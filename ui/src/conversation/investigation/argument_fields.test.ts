import { expect, test } from "vitest";
import type { ToolCall } from "../model";
import { argumentsFrom, fieldsOf, NotJson } from "./argument_fields";

const SCHEMA = {
  properties: {
    title: { type: "string" },
    count: { type: "integer" },
    open: { type: "boolean" },
    scope: { type: "string", enum: ["session", "user"] },
    place: { type: "object" },
    database: { anyOf: [{ type: "string" }, { type: "null" }] },
    limit: { anyOf: [{ type: "integer" }, { type: "null" }] },
    tags: { type: ["array", "null"], items: { type: "string" } },
    either: { anyOf: [{ type: "integer" }, { type: "string" }] },
  },
  required: ["title", "count"],
};
const GIVEN = { title: "A", count: 3, open: false, scope: "user", place: { x: 1 }, database: null };

const call = { arguments: GIVEN } as unknown as ToolCall;
const edited = (typed: Record<string, string>, schema: typeof SCHEMA | null = SCHEMA) =>
  argumentsFrom(fieldsOf(call, schema), typed, call);

test("the schema and the values say which field an argument has", () => {
  const kinds = Object.fromEntries(fieldsOf(call, SCHEMA).map(({ name, kind }) => [name, kind]));
  expect(kinds).toEqual({
    ...{ title: "text", count: "number", open: "switch", scope: "choice", place: "json" },
    ...{ database: "text", limit: "number", tags: "json", either: "json" },
  });
  const guessed = fieldsOf(call, null).map(({ kind }) => kind);
  expect(guessed).toEqual(["text", "number", "switch", "text", "json", "text"]);
});

test("what is not touched stays as it is, and what is emptied is left out if it may be", () => {
  expect(edited({})).toEqual(GIVEN);
  expect(edited({}, null)).toEqual(GIVEN);
  expect(edited({ scope: "", title: "" })).toEqual({ title: "", ...omit("scope", "title") });
});

test("what is typed has the type of its argument", () => {
  const typed = { title: "7", count: "7", open: "true", place: '{"x": 2}', limit: "1.5", tags: '["a"]' };
  expect(edited({ ...typed, database: "shop" })).toEqual({
    ...{ title: "7", count: 7, open: true, scope: "user", place: { x: 2 }, database: "shop" },
    ...{ limit: 1.5, tags: ["a"] },
  });
});

test("the server judges a number that is none, and the page what is no JSON", () => {
  expect(edited({ count: "many" })).toEqual({ ...GIVEN, count: "many" });
  expect(() => edited({ place: "{" })).toThrow(NotJson);
});

function omit(...names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(GIVEN).filter(([name]) => !names.includes(name)));
}
