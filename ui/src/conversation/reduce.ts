/** Builds an answer from its run's events: the same events give the same answer, live or repeated. */
import type { RunEvent } from "../api/types";
import {
  called,
  fetched,
  mustBeConfirmed,
  progressed,
  returned,
  withDecision,
} from "./investigation/reduce_calls";
import {
  type Answer,
  answerFields,
  type Head,
  isAnswerField,
  NO_STATEMENT,
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
    case "confirmation":
      return mustBeConfirmed(answer, event);
    case "confirmation_decided":
      return withDecision(answer, event.confirmation_id, event.decision, event.edited_arguments);
    case "tool_result":
      return returned(answer, event);
    case "memory":
      return onMemory(answer, event);
    case "reset":
      return onReset(answer);
    case "error":
      return onError(answer, event);
    case "done":
      return onDone(answer, event);
    default:
      return answer; // an event of a newer server
  }
}

function onReset({ runId, tokensUsed, elapsedMs, databaseMs, bytesRead }: Answer): Answer {
  return { ...NOTHING, phase: "running", runId, tokensUsed, elapsedMs, databaseMs, bytesRead };
}

function onStatus(answer: Answer, event: Of<"status">): Answer {
  const at = Date.parse(event.at);
  const { step, message, failed_sql: statement, error, tokens_used: tokensBefore } = event;
  const taken = { step, message, startedAt: at, endedAt: null, statement, error, rows: null, tokens: 0 };
  // The wait is over: it is no part of the answer.
  const tokens = Math.max(0, tokensBefore - answer.tokensBefore);
  const steps = ended(answer.steps, at, tokens).filter((each) => each.step !== "waiting");
  const next: Answer = {
    ...answer,
    phase: "running",
    runId: event.run_id,
    steps: [...steps, taken],
    tokensBefore,
    thought: "",
  };
  if (step !== "repairing_sql") return next;
  return { ...next, ...NO_STATEMENT, sql: "", sqlWhole: false }; // the next statement is written now
}

function onError(answer: Answer, { type, title, status, detail, retryable }: Of<"error">): Answer {
  const problem = { type, title, status, detail, retryable };
  const steps = withLatest(answer.steps, { error: detail });
  return { ...answer, steps, problems: [...answer.problems, problem] };
}

function onChunk(answer: Answer, event: Of<"chunk">): Answer {
  if ("tool_call_id" in event && event.tool_call_id !== null)
    return event.type === "results" ? fetched(answer, event.tool_call_id, headOf(event.content)) : answer;
  switch (event.type) {
    case "text":
      return onText(answer, event.channel, event.content);
    case "sql":
      return { ...answer, ...answerFields(event), sql: event.content, sqlWhole: true };
    case "results":
      return {
        ...answer,
        head: headOf(event.content),
        steps: withLatest(answer.steps, { rows: event.content.row_count }),
      };
    case "analysis":
      return { ...answer, analysis: event.content, analysisWhole: true, thought: "" };
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

function onMemory(answer: Answer, event: Of<"memory">): Answer {
  const { action, facts, reason } = event;
  switch (action) {
    case "used":
      return { ...answer, used: facts, remembered: facts.map((each) => each.id) };
    case "kept":
      return { ...answer, kept: [...answer.kept, ...facts] };
    case "refused":
      return { ...answer, refusals: [...answer.refusals, ...(reason ? [reason] : [])] };
    default:
      return answer;
  }
}

function onDone(answer: Answer, event: Of<"done">): Answer {
  return {
    ...answer,
    phase: event.status,
    runId: event.run_id,
    messageId: event.message_id,
    steps: ended(answer.steps, 0, 0),
    tokensBefore: 0,
    sql: answer.sqlWhole ? answer.sql : "", // a piece of a statement is nothing to run
    analysisWhole: answer.analysis !== "",
    thought: "",
    progress: null,
    // The run before an approval has its own part of the turn.
    tokensUsed: answer.tokensUsed + event.tokens_used,
    elapsedMs: (answer.elapsedMs ?? 0) + event.elapsed_ms,
    databaseMs: answer.databaseMs + event.database_ms,
    bytesRead: event.bytes_read === null ? answer.bytesRead : (answer.bytesRead ?? 0) + event.bytes_read,
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

function withLatest(steps: TakenStep[], more: Partial<TakenStep>): TakenStep[] {
  return steps.map((each, index) => (index === steps.length - 1 ? { ...each, ...more } : each));
}

/** Steps that are not over end at a time (epoch ms), but never before they began. `tokens`: what they used. */
function ended(steps: TakenStep[], at: number, tokens: number): TakenStep[] {
  return steps.map((each) =>
    each.endedAt === null ? { ...each, endedAt: Math.max(at, each.startedAt), tokens } : each,
  );
}
