import { expect, test } from "vitest";
import type { Reference } from "../../api/types";
import { type Part, partsOf } from "./markdown";
import { withoutNotice } from "./notice";
import { statementsOf } from "./statements";

const reference = (start: number, end: number, key = "total_n"): Reference => ({
  ...{ key, span: [start, end], result_id: null, how: "sum of n", value: "3" },
  ...{ cells: [{ row: 0, column: "n" }], cell_count: 1 },
});

/** References on the sentences of a text, as they stand in it. */
const on = (text: string, ...sentences: string[]) =>
  sentences.map((each) => {
    const start = Array.from(text.slice(0, text.indexOf(each))).length;
    return reference(start, start + Array.from(each).length);
  });

/** What is shown: [index: … ] around statements, which are stops of the Tab key where * follows. */
const shown = (parts: Part[]): string =>
  parts
    .map((part) => {
      if (typeof part === "string") return part;
      const inner = shown(part.children);
      if (part.attributes?.class !== "statement") return `<${part.tag}>${inner}</${part.tag}>`;
      const { "data-statement": index, tabIndex } = part.attributes;
      return `[${index}${tabIndex === 0 ? "*" : ""}: ${inner}]`;
    })
    .join("");

const render = (text: string, ...sentences: string[]) =>
  shown(partsOf(text, statementsOf(on(text, ...sentences))));

test("each sentence with a source is a statement, and a paragraph is one stop", () => {
  const [one, two, three] = ["**West** has 😀 3.", "The *total* is **7**.", "It fell."];
  expect(render(`${one} ${two}\n\n${three}`, one, two, three)).toBe(
    "<p>[0*: <strong>West</strong> has 😀 3.] [1: The <em>total</em> is <strong>7</strong>.]</p><p>[2*: It fell.]</p>",
  );
});

test("statements stand in lists and quotations", () => {
  expect(render("- a\n- It is 3.", "It is 3.")).toBe("<ul><li>a</li><li>[0*: It is 3.]</li></ul>");
});

test("a text whose markup a mark would change has no statements", () => {
  expect(render("1. first\n2. second", "1. first")).toBe("<ol><li>first</li><li>second</li></ol>");
});

test("private-use characters of a database are no marks", () => {
  expect(render("\uE000 has 3.", "\uE000 has 3.")).toBe("<p>[0*: \uFFFD has 3.]</p>");
});

test.each([[[5, 2]], [[-3, 0]], [[90, 95]], [[]]])("a span of %j marks nothing", (span) => {
  const statements = statementsOf([{ ...reference(0, 1), span }]);
  expect(shown(partsOf("One two.", statements))).toBe("<p>One two.</p>");
});

test("references of one sentence are of one statement", () => {
  const found = statementsOf([reference(9, 20, "b"), reference(0, 8, "a"), reference(0, 8, "c")]);
  expect(found.map(({ sources }) => sources.map(({ key }) => key))).toEqual([["a", "c"], ["b"]]);
});

test("a notice before the paragraph of the first statement stands apart", () => {
  const text = "**The figures may be wrong:** 😀\n\nOf these rows: West has 3.";
  const [notice, rest, moved] = withoutNotice(text, on(text, "West has 3."));
  expect(notice).toBe("**The figures may be wrong:** 😀");
  expect(shown(partsOf(rest, statementsOf(moved)))).toBe("<p>Of these rows: [0*: West has 3.]</p>");
});

test("a text without references has no notice apart", () => {
  expect(withoutNotice("One.\n\nTwo.", [])).toEqual(["", "One.\n\nTwo.", []]);
});

test("the sentence of a model is marked as its reading, in every language", () => {
  const [, reading] = partsOf("It is 3.\n\n*Deutung:* Das wirkt wenig.");
  expect(reading).toMatchObject({ tag: "p", attributes: { class: "model-reading" } });
  expect(partsOf("*Much*: it is so.")[0]).not.toHaveProperty("attributes");
});
