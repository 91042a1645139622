import { useMemo } from "preact/hooks";
import type { Claim } from "../../api/types";
import { SafeHtml } from "../../shared/safe_html";
import { ClaimTips } from "./claim_tips";
import { safeMarkup } from "./markdown";
import "./analysis.css";

interface Shown {
  text: string;
  whole: boolean;
  claims?: readonly Claim[];
}

const NONE: readonly Claim[] = [];

/** The analysis of the rows: ends with a caret while it is written, and shows claims once it is complete. */
export function Analysis({ text, whole, claims = NONE }: Shown) {
  const shown = whole ? claims : NONE;
  const html = useMemo(() => safeMarkup(text, shown), [text, shown]);
  if (!text) return null;
  return (
    <ClaimTips claims={shown}>
      <SafeHtml of="div" class={whole ? "analysis" : "analysis writing"} html={html} />
    </ClaimTips>
  );
}
