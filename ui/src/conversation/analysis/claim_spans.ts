/** Replaces the marks of claims by spans around what they mark. */
import type { Claim } from "../../api/types";
import { markOf } from "./claim_marks";
import type { Element, Part } from "./markdown";

export function withClaims(parts: Part[], claims: readonly Claim[]): Part[] {
  const open: number[] = [];
  const begun = new Set<number>();
  return within(parts);

  function within(some: Part[]): Part[] {
    return some.flatMap((part) => {
      if (typeof part === "string") return split(part);
      return [{ ...part, children: within(part.children) }];
    });
  }

  function split(text: string): Part[] {
    const found: Part[] = [];
    let plain = "";
    const close = () => {
      if (plain) found.push(marked(plain, open.at(-1)));
      plain = "";
    };
    for (const character of text) {
      const mark = markOf(character);
      if (mark === null) {
        plain += character;
        continue;
      }
      close();
      if (mark.starts) open.push(mark.index);
      else open.splice(open.lastIndexOf(mark.index), 1);
    }
    close();
    return found;
  }

  function marked(text: string, index: number | undefined): Part {
    const claim = index === undefined ? undefined : claims[index];
    if (index === undefined || claim === undefined) return text;
    if (claim.status === "checked" && claim.from === null) return text;
    const span: Element = {
      tag: "span",
      attributes: { class: `claim ${claim.status.replace("_", "-")}`, "data-claim": index },
      children: [text],
    };
    // One stop of the Tab key for each claim.
    if (begun.has(index)) return span;
    begun.add(index);
    return { ...span, attributes: { ...span.attributes, tabIndex: 0, role: "button" } };
  }
}
