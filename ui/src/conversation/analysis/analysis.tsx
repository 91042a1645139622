import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Reference } from "../../api/types";
import type { FindOrigin } from "./sources";
import "./analysis.css";

export interface ShownText {
  text: string;
  whole?: boolean;
  references?: readonly Reference[];
  /** Finds the results that references name. */
  origin?: FindOrigin;
  /** Class of the text. */
  as?: "analysis" | "headline" | "notice" | "finding" | "thought";
}

/** What parses the text, fetched with the first exchange. Until it is there, a skeleton takes the text's room. */
const parsed = signal<typeof import("./parsed_text") | null>(null);

function fetchParser(): void {
  void import("./parsed_text").then(
    (module) => (parsed.value = module),
    () => undefined,
  );
}

/** A text in Markdown: ends with a caret while it is written, and shows its sources once it is complete. */
export function Analysis(shown: ShownText) {
  const { text, whole = true, as = "analysis" } = shown;
  useEffect(fetchParser, []);
  if (!text) return null;
  if (parsed.value) return <parsed.value.ParsedText {...shown} />;
  return (
    <div class={whole ? as : `${as} writing`}>
      <p class="written" aria-busy="true">
        {text}
      </p>
    </div>
  );
}
