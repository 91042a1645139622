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

/** The reading of the rows; a caret stands at its end while it is written, and claims are shown once it is. */
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
