/** The statements of an analysis: the sentences that have a source, found again in the parsed text. */
import type { Reference } from "../../api/types";
import type { Element, Part } from "./markdown";

/** Private-use characters, which pass through the parser like letters: where a statement starts and ends. */
const FIRST_START = 0xe000;
const FIRST_END = 0xe800;
const MARKS = /[\uE000-\uEFFF]/g;
const MARK = /([\uE000-\uEFFF])/;

/** A sentence of the text, in code points, and what it was computed from. */
export interface Statement {
  start: number;
  end: number;
  sources: Reference[];
}

/** The statements in the order of the text. References of one sentence are of one statement. */
export function statementsOf(references: readonly Reference[]): Statement[] {
  const found: Statement[] = [];
  const sorted = [...references].sort((one, other) => startOf(one) - startOf(other));
  for (const each of sorted) {
    const [start = 0, end = 0] = each.span;
    const last = found.at(-1);
    if (last && start < last.end) last.sources.push(each);
    else if (start >= 0 && start < end) found.push({ start, end, sources: [each] });
  }
  return found;
}

function startOf({ span }: Reference): number {
  return span[0] ?? 0;
}

/** The parsed text, its statements as spans with their index as `data-statement`: each paragraph is one stop of
 * the Tab key. A text whose markup the marks would change has none. */
export function withStatements(
  text: string,
  statements: readonly Statement[],
  parsed: (text: string) => Part[],
): Part[] {
  // Same length in code points: the spans still fit.
  const own = Array.from(text.replace(MARKS, "\uFFFD"));
  const plain = parsed(own.join(""));
  if (statements.length === 0) return plain;
  const marked = [...own];
  statements.forEach(({ start, end }, index) => {
    if (end > own.length) return;
    marked[start] = String.fromCharCode(FIRST_START + index) + (marked[start] ?? "");
    marked[end - 1] = (marked[end - 1] ?? "") + String.fromCharCode(FIRST_END + index);
  });
  const parts = parsed(marked.join(""));
  return written(parts).replace(MARKS, "") === written(plain) ? within(parts) : plain;
}

/** The tree as text: two trees with the same elements around the same letters are written alike. */
function written(parts: Part[]): string {
  return parts
    .map((part) => {
      if (typeof part === "string") return part;
      return `\u0001${part.tag} ${JSON.stringify(part.attributes)}\u0002${written(part.children)}\u0003`;
    })
    .join("");
}

function within(parts: Part[]): Part[] {
  const found: Part[] = [];
  let open: Element | null = null;
  let stops = 0;
  const add = (part: Part) => (open?.children ?? found).push(part);
  for (const part of parts) {
    if (typeof part !== "string") {
      add({ ...part, children: within(part.children) });
      continue;
    }
    for (const piece of part.split(MARK)) {
      const code = piece.charCodeAt(0);
      if (!MARK.test(piece)) {
        if (piece) add(piece);
      } else if (code < FIRST_END) {
        const tabIndex = stops++ ? -1 : 0;
        const attributes = {
          class: "statement",
          "data-statement": code - FIRST_START,
          tabIndex,
          role: "button",
        };
        open = { tag: "span", attributes, children: [] };
        found.push(open);
      } else open = null;
    }
  }
  return found;
}
