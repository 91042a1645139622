import { useMemo } from "preact/hooks";
import { SafeHtml } from "../../shared/safe_html";
import { safeMarkup } from "./markdown";
import "./analysis.css";

/** The reading of the rows; a caret stands at its end while it is written. */
export function Analysis({ text, whole }: { text: string; whole: boolean }) {
  const html = useMemo(() => safeMarkup(text), [text]);
  if (!text) return null;
  return <SafeHtml of="div" class={whole ? "analysis" : "analysis writing"} html={html} />;
}
