import { useEffect, useState } from "preact/hooks";
import { readRows } from "../../api/client";
import { asProblem } from "../../api/problem";
import type { Problem, Row } from "../../api/types";
import { ProblemBox } from "../../shared/problem_box";
import { texts } from "../../shared/texts";
import { AnswerRows } from "../rows/answer_rows";
import { RowsPanel } from "../rows/rows_panel";

const FIRST_PAGE = 100;

interface Shown {
  sessionId: string;
  messageId: string;
  resultId: string;
  title: string;
}

/** The rows that a call has fetched: as they are stored, with their number and ways to export them. */
export function ResultRows({ sessionId, messageId, resultId, title }: Shown) {
  const [rows, setRows] = useState<AnswerRows | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const load = () => {
    setProblem(null);
    const place = { session_id: sessionId, message_id: messageId, result_id: resultId };
    readRows(place, FIRST_PAGE).then(
      ({ columns, items, row_count: rowCount, cut_by: cutBy }) => {
        const head = { columns, rows: items as Row[], rowCount, cutBy };
        const found = new AnswerRows(sessionId, head, resultId);
        found.messageId = messageId;
        setRows(found);
      },
      (error: unknown) => setProblem(asProblem(error)),
    );
  };
  useEffect(load, [sessionId, messageId, resultId]);
  if (problem) return <ProblemBox problem={{ ...problem, title: texts.answer.rowsGone }} onRetry={load} />;
  return rows ? <RowsPanel rows={rows} title={title} /> : <p class="quiet">{texts.loading} …</p>;
}
