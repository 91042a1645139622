import type { ChartChoice } from "../../api/types";
import { opened } from "../analysis/opened";
import type { Head } from "../model";
import { ChartView } from "./chart_view";
import type { Spec } from "./spec";
import "./chart.css";

interface Shown {
  /** The chart to draw; null if the server proposed none. */
  spec: Spec | null;
  /** What the chart was made of. Null for an answer about rows of an earlier answer. */
  head: Head | null;
  /** As the answer keeps it. */
  choice: ChartChoice | null;
  /** Why the stored choice is not drawn; the proposed chart is, then. */
  refusal: string | null;
}

/** The chart. Fetched while a question is answered. */
export default function ChartPanel({ spec, head, choice, refusal }: Shown) {
  const lit = head !== null && opened.value?.head === head ? opened.value.rows : undefined;
  return (
    <div class="chart-panel">
      {choice?.title && <p class="chart-heading">{choice.title}</p>}
      {spec && <ChartView spec={spec} lit={lit} />}
      {refusal && (
        <p class="chart-refusal" role="status">
          {refusal}
        </p>
      )}
    </div>
  );
}
