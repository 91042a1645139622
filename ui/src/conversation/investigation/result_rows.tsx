import { useEffect, useMemo, useState } from "preact/hooks";
import { readRows } from "../../api/client";
import { asProblem } from "../../api/problem";
import type { Problem, Row } from "../../api/types";
import { ProblemBox } from "../../shared/problem_box";
import { texts } from "../../shared/texts";
import { AnswerRows } from "../rows/answer_rows";
import type { Head } from "../model";
import { RowsPanel } from "../rows/lazy_rows";

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

/** The first rows of a call while its run goes on: until its end the others cannot be read. */
export function HeadRows({ sessionId, head, title }: { sessionId: string; head: Head; title: string }) {
  const rows = useMemo(() => new AnswerRows(sessionId, head), [sessionId, head]);
  return <RowsPanel rows={rows} title={title} />;
}
