import { expect, test } from "vitest";
import {
  attributesOf,
  conditionsOf,
  joinConditions,
  linesOf,
  linesOfAttributes,
  linesOfConditions,
  listOf,
  whenOf,
} from "./words";

test("lists and lines have no empty parts", () => {
  expect(listOf(" seller, , manager,")).toEqual(["seller", "manager"]);
  expect(linesOf("a = 1\n\n  b = 2 ")).toEqual(["a = 1", "b = 2"]);
});

test("conditions are joined so that each stays whole", () => {
  expect(joinConditions(["a = 1 OR b = 2"])).toBe("a = 1 OR b = 2");
  expect(joinConditions(["a = 1 OR b = 2", "c = 3"])).toBe("(a = 1 OR b = 2) AND (c = 3)");
});

test("a condition of several lines stays one", () => {
  const conditions = ["a = 1 -- or none\n  AND\n\nb = 2", "c = 3", "d = 'x\n y'"];
  expect(conditionsOf(linesOfConditions(conditions))).toEqual(conditions);
  expect(conditionsOf("\n a = 1\n\nb = 2\n  OR c = 3\n \n")).toEqual(["a = 1", "b = 2\n OR c = 3"]);
  expect(conditionsOf(" \n")).toEqual([]);
});

test("a repeated attribute has several values, and a line of another form none", () => {
  expect(attributesOf("region=EMEA\nteam=a=b\nteam=c")).toEqual({ region: "EMEA", team: ["a=b", "c"] });
  expect(attributesOf("")).toEqual({});
  expect(attributesOf("region")).toBeNull();
  expect(attributesOf("=EMEA")).toBeNull();
});

test("numbers and flags of a stored condition stay what they are", () => {
  const when = { level: 3, is_external: true, region: "EMEA" };
  expect(whenOf(linesOfAttributes(when), when)).toEqual(when);
  expect(whenOf("level=4", when)).toEqual({ level: "4" });
  expect(whenOf("region=a\nregion=b", when)).toBeNull();
});
