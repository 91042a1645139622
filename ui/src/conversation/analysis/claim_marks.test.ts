import { Marked } from "marked";
import { expect, test } from "vitest";
import type { Claim } from "../../api/types";
import { markOf, withMarks } from "./claim_marks";

const parser = new Marked({ gfm: true, async: false });
const render = (markdown: string) => parser.parse(markdown) as string;

/** A claim for each of these words of the text, at its first place. */
const claimsOn = (text: string, ...words: string[]): Claim[] =>
  words.map((word) => {
    const start = Array.from(text.slice(0, text.indexOf(word))).length;
    return { text: word, span: [start, start + Array.from(word).length], status: "not_found", from: null };
  });

/** What is shown, with [index: ... ] around what is marked. */
const shown = (text: string, claims: Claim[]) =>
  Array.from(render(withMarks(text, claims, render)))
    .map((character) => {
      const mark = markOf(character);
      if (mark === null) return character;
      return mark.starts ? `[${mark.index}:` : "]";
    })
    .join("")
    .trim();

test.each([
  ["Revenue is **1,234.5** now.", "<p>Revenue is <strong>[0:1,234.5]</strong> now.</p>"],
  ["1,234.5 is the revenue.", "<p>[0:1,234.5] is the revenue.</p>"],
  ["It is 1,234.5", "<p>It is [0:1,234.5]</p>"],
  ["So 👩‍👩‍👧 😀 é have 1,234.5.", "<p>So 👩‍👩‍👧 😀 é have [0:1,234.5].</p>"],
  ["- a\n- **1,234.5**", "<ul>\n<li>a</li>\n<li><strong>[0:1,234.5]</strong></li>\n</ul>"],
  ["> so\n> 1,234.5", "<blockquote>\n<p>so\n[0:1,234.5]</p>\n</blockquote>"],
  ["### 1,234.5", "<h3>[0:1,234.5]</h3>"],
  ["`1,234.5` & <b>", "<p><code>[0:1,234.5]</code> &amp; <b></p>"],
])("a claim in %j is found where it is shown", (text, html) => {
  expect(shown(text, claimsOn(text, "1,234.5"))).toBe(html);
});

test("a claim may hold the asterisks around it, and another claim", () => {
  const text = "**Tents** have the most: **12**.";
  const claims = [...claimsOn(text, "**Tents** have the most"), ...claimsOn(text, "Tents", "12")];
  expect(shown(text, claims)).toBe(
    "<p>[0:<strong>[1:Tents]</strong> have the most]: <strong>[2:12]</strong>.</p>",
  );
});

test("cells of a table are marked", () => {
  const text = "| a | b |\n|---|---|\n| Tents | 12 |";
  expect(shown(text, claimsOn(text, "12"))).toContain("<td>[0:12]</td>");
});

test.each([
  "1. first\n2. second", // a mark before the number would make the list a paragraph
  "See https://example.com/1234 for more.",
  "See [this](https://example.com/1234).",
  "&#1234; is one sign.",
])("a claim whose mark would change what is shown in %j is left out, alone", (text) => {
  const word = /\d+/.exec(text)?.[0] ?? "";
  const whole = `${text}\n\nAnd 99.`;
  const html = shown(whole, claimsOn(whole, word, "99"));
  expect(html.replace("[1:99]", "99")).toBe(render(whole).trim());
  expect(html).toContain("[1:99]");
});

test.each([[[5, 2]], [[-3, 0]], [[90, 95]], [[]], [[3, 4]]])("a span of %j marks nothing", (span) => {
  const claim: Claim = { text: "", span, status: "not_found", from: null };
  expect(shown("One two.", [claim])).toBe("<p>One two.</p>");
});

test("private-use characters of the model are no marks", () => {
  const text = "\uE000 and \uE800 and 12";
  expect(shown(text, claimsOn(text, "12"))).toBe("<p>\uFFFD and \uFFFD and [0:12]</p>");
});

test("three hundred claims are placed in the time of a frame or two", () => {
  const text = Array.from({ length: 300 }, (_, index) => `**${1000 + index}** of *x*`).join(", ");
  const claims = claimsOn(text, ...Array.from({ length: 300 }, (_, index) => String(1000 + index)));
  expect(shown(text, claims).match(/\[\d+:/g)).toHaveLength(300);
});
