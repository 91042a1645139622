/** Builds an answer from its run's events: the same events give the same answer, live or repeated. */
import type { RunEvent, Step } from "../api/types";
import { called, progressed, returned } from "./investigation/reduce_calls";
import {
  type Answer,
  answerFields,
  type FailedStatement,
  type Head,
  isAnswerField,
  NOTHING,
  type TakenStep,
} from "./model";

type Of<Kind extends RunEvent["event"]> = Extract<RunEvent, { event: Kind }>;

export function reduce(answer: Answer, event: RunEvent): Answer {
  switch (event.event) {
    case "status":
      return onStatus(answer, event);
    case "chunk":
      return onChunk(answer, event);
    case "tool_call":
      return called(answer, event);
    case "progress":
      return progressed(answer, event);
    case "tool_result":
      return returned(answer, event);
    case "reset":
      return { ...NOTHING, phase: "running", runId: answer.runId };
    case "error":
      return { ...answer, problems: [...answer.problems, event] };
    case "done":
      return onDone(answer, event);
    default:
      return answer; // an event of a newer server
  }
}

function onStatus(answer: Answer, event: Of<"status">): Answer {
  const at = Date.parse(event.at);
  const steps = [...ended(answer.steps, at), taken(event.step, event.message, at)];
  const next: Answer = { ...answer, phase: "running", runId: event.run_id, steps, thought: "" };
  if (event.step !== "repairing_sql") return next;
  return withRepair(next, { sql: event.failed_sql ?? answer.sql, error: event.error ?? "" });
}

function onChunk(answer: Answer, event: Of<"chunk">): Answer {
  switch (event.type) {
    case "text":
      return onText(answer, event.channel, event.content);
    case "sql":
      return { ...answer, ...answerFields(event), sql: event.content, sqlWhole: true };
    case "results":
      return { ...answer, head: headOf(event.content) };
    case "analysis":
      return { ...answer, analysis: event.content, analysisWhole: true };
    default: // the field of its name; a chunk of a newer server has none here
      if (!isAnswerField(event.type)) return answer;
      return { ...answer, ...answerFields(event), [event.type]: event.content };
  }
}

function onText(answer: Answer, channel: "sql" | "analysis" | "investigation", token: string): Answer {
  if (channel === "investigation") return { ...answer, thought: answer.thought + token };
  if (channel === "analysis") return { ...answer, analysis: answer.analysis + token };
  return answer.sqlWhole ? answer : { ...answer, sql: answer.sql + token };
}

/** Moves the failed statement to the repairs, and empties the field for the next. */
function withRepair(answer: Answer, failed: FailedStatement): Answer {
  const repairs = [...answer.repairs, failed];
  return { ...answer, repairs, sql: "", sqlWhole: false, corrections: [] };
}

function onDone(answer: Answer, event: Of<"done">): Answer {
  const start = answer.steps[0]?.startedAt ?? 0;
  return {
    ...answer,
    phase: event.status,
    runId: event.run_id,
    messageId: event.message_id,
    steps: ended(answer.steps, start + event.elapsed_ms),
    thought: "",
    tokensUsed: event.tokens_used,
    elapsedMs: event.elapsed_ms,
  };
}

function headOf(rows: {
  columns: Head["columns"];
  rows: unknown[][];
  row_count: number;
  cut_by?: Head["cutBy"];
}): Head {
  const { columns, row_count: rowCount, cut_by: cutBy = null } = rows;
  return { columns, rows: rows.rows as Head["rows"], rowCount, cutBy };
}

function taken(step: Step, message: string, startedAt: number): TakenStep {
  return { step, message, startedAt, endedAt: null };
}

function ended(steps: TakenStep[], at: number): TakenStep[] {
  return steps.map((each) =>
    each.endedAt === null ? { ...each, endedAt: Math.max(at, each.startedAt) } : each,
  );
}
