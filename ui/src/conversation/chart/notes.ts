import { texts } from "../../shared/texts";
import { count } from "../../shared/time";
import { planOf, type Spec } from "./spec";
import { chartTexts } from "./texts";

/** How many rows a chart is made of, how, and what it leaves out; empty if its specification does not say it. */
export function notesOf(spec: Spec): string {
  const { rows, shown, how } = planOf(spec);
  if (rows === null) return how.join(" ");
  const counted = texts.rows.count(count(rows));
  const isWhole = shown === null || shown === rows;
  const drawn = isWhole ? chartTexts.allDrawn(counted) : chartTexts.drawnAs(counted, count(shown));
  return [drawn, how.join(" ")].filter(Boolean).join(". ");
}
