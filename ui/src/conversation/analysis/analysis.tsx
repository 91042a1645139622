import { signal } from "@preact/signals";
import { createElement, type VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Reference } from "../../api/types";
import type { Part } from "./markdown";
import { type FindOrigin, Sources } from "./sources";
import { statementsOf } from "./statements";
import "./analysis.css";

interface Shown {
  text: string;
  whole?: boolean;
  references?: readonly Reference[];
  origin?: FindOrigin;
  /** Class of the text. */
  as?: "analysis" | "headline" | "notice" | "finding";
}

const NONE: readonly Reference[] = [];

/** The parser, fetched with the first exchange. Without it the text is shown as it was written. */
const markdown = signal<typeof import("./markdown") | null>(null);

function fetchParser(): void {
  void import("./markdown").then(
    (module) => (markdown.value = module),
    () => undefined,
  );
}

/** A text in Markdown: ends with a caret while it is written, and shows its sources once it is complete. */
export function Analysis({
  text,
  whole = true,
  references = NONE,
  origin = () => null,
  as = "analysis",
}: Shown) {
  const shown = whole ? references : NONE;
  useEffect(fetchParser, []);
  const parser = markdown.value;
  const statements = useMemo(() => statementsOf(shown), [shown]);
  const parts = useMemo(() => parser?.partsOf(text, statements).map(drawn), [text, statements, parser]);
  if (!text) return null;
  return (
    <Sources statements={statements} origin={origin}>
      <div class={whole ? as : `${as} writing`}>{parts ?? <p class="written">{text}</p>}</div>
    </Sources>
  );
}

function drawn(part: Part): VNode | string {
  if (typeof part === "string") return part;
  return createElement(part.tag, part.attributes ?? null, ...part.children.map(drawn));
}
