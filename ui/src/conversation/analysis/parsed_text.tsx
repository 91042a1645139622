import { createElement, type VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { Reference } from "../../api/types";
import type { ShownText } from "./analysis";
import { withFigure } from "./figure";
import { type Part, partsOf } from "./markdown";
import { Sources } from "./sources";
import { statementsOf } from "./statements";

const NONE: readonly Reference[] = [];

export function ParsedText({ text, whole = true, references = NONE, origin, as = "analysis" }: ShownText) {
  const shown = whole ? references : NONE;
  // By their contents: an answer that is read again closes no source that is open.
  const statements = useMemo(() => statementsOf(shown), [JSON.stringify(shown)]);
  const parts = useMemo(() => {
    if (as !== "headline") return partsOf(text, statements).map(drawn);
    const marked = withFigure(text, shown[0]?.value ?? null);
    const whole = statementsOf(shown.map((each) => ({ ...each, span: [0, Array.from(marked).length] })));
    return partsOf(marked, whole).map(drawn);
  }, [text, statements]);
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
