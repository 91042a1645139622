import { signal } from "@preact/signals";
import { createElement, type VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Claim } from "../../api/types";
import { ClaimTips } from "./claim_tips";
import type { Part } from "./markdown";
import "./analysis.css";

interface Shown {
  text: string;
  whole: boolean;
  claims?: readonly Claim[];
}

const NONE: readonly Claim[] = [];

/** The parser, fetched with the first exchange. Without it the text is shown as it was written. */
const markdown = signal<typeof import("./markdown") | null>(null);

function fetchParser(): void {
  void import("./markdown").then(
    (module) => (markdown.value = module),
    () => undefined,
  );
}

/** The analysis of the rows: ends with a caret while it is written, and shows claims once it is complete. */
export function Analysis({ text, whole, claims = NONE }: Shown) {
  const shown = whole ? claims : NONE;
  useEffect(fetchParser, []);
  const parser = markdown.value;
  const parts = useMemo(() => parser?.partsOf(text, shown).map(drawn), [text, shown, parser]);
  if (!text) return null;
  return (
    <ClaimTips claims={shown}>
      <div class={whole ? "analysis" : "analysis writing"}>{parts ?? <p class="written">{text}</p>}</div>
    </ClaimTips>
  );
}

function drawn(part: Part): VNode | string {
  if (typeof part === "string") return part;
  return createElement(part.tag, part.attributes ?? null, ...part.children.map(drawn));
}
