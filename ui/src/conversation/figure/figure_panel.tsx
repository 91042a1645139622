import { useEffect } from "preact/hooks";
import { ProblemBox } from "../../shared/problem_box";
import { texts } from "../../shared/texts";
import type { AnswerRows } from "../rows/answer_rows";
import { figureOf } from "./figure";
import "./figure.css";

/**
 * The number of a result that is one number, and what it is to be compared with. Pressed, it shows how it was
 * made. Fetched when first shown.
 */
export default function FigurePanel({ rows }: { rows: AnswerRows }) {
  useEffect(() => void rows.load(1), [rows, rows.messageId]);
  const problem = rows.problem.value;
  const row = rows.loaded.value[0];
  if (problem)
    return (
      <ProblemBox problem={{ ...problem, title: texts.answer.rowsGone }} onRetry={() => void rows.load(1)} />
    );
  if (!row) return null;
  const { value, name, column, of, beside } = figureOf(rows.columns, row);
  const { explain } = rows;
  return (
    <p class="figure">
      {explain ? (
        <button type="button" title={texts.provenance.title} onClick={() => explain(column)}>
          <strong>{value}</strong>
        </button>
      ) : (
        <strong>{value}</strong>
      )}{" "}
      <span>{name}</span>
      {of && <span class="quiet">{of}</span>}
      {beside && <span class="figure-beside">{beside}</span>}
    </p>
  );
}
