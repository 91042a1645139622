import { createElement, type VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { Reference } from "../../api/types";
import type { ShownText } from "./analysis";
import { type Part, partsOf } from "./markdown";
import { Sources } from "./sources";
import { statementsOf } from "./statements";

const NONE: readonly Reference[] = [];

export function ParsedText({ text, whole = true, references = NONE, origin, as = "analysis" }: ShownText) {
  const shown = whole ? references : NONE;
  const statements = useMemo(() => statementsOf(shown), [shown]);
  const parts = useMemo(() => partsOf(text, statements).map(drawn), [text, statements]);
  return (
    <Sources statements={statements} origin={origin ?? (() => null)}>
      <div class={whole ? as : `${as} writing`}>{parts}</div>
    </Sources>
  );
}

function drawn(part: Part): VNode | string {
  if (typeof part === "string") return part;
  return createElement(part.tag, part.attributes ?? null, ...part.children.map(drawn));
}
