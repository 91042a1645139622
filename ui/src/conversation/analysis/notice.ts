/** What stands above the picture of an answer, and what below it. */
import type { Reference } from "../../api/types";

/** Splits a text before the paragraph of its first statement: what stands there is a notice of the whole. */
export function withoutNotice(text: string, references: Reference[]): [string, string, Reference[]] {
  const first = Math.min(...references.map(({ span }) => span[0] ?? 0));
  if (!Number.isFinite(first)) return ["", text, references];
  const before = Array.from(text).slice(0, first).join("");
  const notice = before.slice(0, before.lastIndexOf("\n\n") + 1);
  const moved = Array.from(notice).length;
  const rest = references.map((each) => ({ ...each, span: each.span.map((at) => at - moved) }));
  return [notice.trim(), text.slice(notice.length), rest];
}
