import { expect, test } from "vitest";
import { mentionsIn } from "./mentions";

const said = (text: string, ...terms: string[]) =>
  mentionsIn(text, terms).map(({ start, end, term }) => [text.slice(start, end), term]);

test("whole words are found in any case, and the longest term first", () => {
  expect(said("Net  revenue and REVENUE, not revenues", "revenue", "net revenue")).toEqual([
    ["Net  revenue", "net revenue"],
    ["REVENUE", "revenue"],
  ]);
});

test("a term is no pattern", () => {
  expect(said("Is C++ (or a.b) the ROI-1?", "C++", "a.b", "axb", "ROI-1", " ")).toEqual([
    ["C++", "C++"],
    ["a.b", "a.b"],
    ["ROI-1", "ROI-1"],
  ]);
  expect(said("Prénom", "nom")).toEqual([]);
});
