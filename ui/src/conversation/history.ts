/** The stored history as exchanges, in the form that a stream has. */
import type { Message } from "../api/types";
import { type Answer, answerFields, type Exchange, type Head, NOTHING, type TakenStep } from "./model";

/**
 * Messages oldest first, each question right before its answer; a question alone is still being answered. The
 * question of a page's first answer may be on the page before. A question and its answer may have different
 * runs: after an approval another run goes on.
 */
export function exchangesOf(messages: Message[]): Exchange[] {
  return messages.flatMap((message, index) => {
    if (!isAnswer(message)) return [exchangeOf(message, messages.slice(index + 1, index + 2).find(isAnswer))];
    const before = messages[index - 1];
    return before && !isAnswer(before) ? [] : [exchangeOf(message, message)];
  });
}

function isAnswer(message: Message): boolean {
  return message.role === "assistant";
}

function exchangeOf(question: Message, answer: Message | undefined): Exchange {
  return {
    key: question.run_id,
    question: question.query,
    ...(question.given_sql !== null && { sql: question.given_sql }),
    ...(!isAnswer(question) && { questionId: question.id }),
    askedAt: Date.parse(question.timestamp),
    answer: answer ? answerOf(answer) : { ...NOTHING, runId: question.run_id },
    kept: answer !== undefined,
  };
}

function answerOf(message: Message): Answer {
  return {
    ...NOTHING,
    ...answerFields(message),
    phase: message.status,
    runId: message.run_id,
    messageId: message.id,
    steps: message.timeline.map(stepOf),
    sql: message.sql ?? "",
    sqlWhole: message.sql !== null,
    investigation: message.steps > 0 ? null : [],
    head: headOf(message),
    analysis: message.analysis ?? "",
    analysisWhole: message.analysis !== null,
    problems: message.error ? [message.error] : [],
    tokensUsed: message.tokens_used,
    elapsedMs: message.elapsed_ms,
    databaseMs: message.database_ms,
    bytesRead: message.bytes_read,
  };
}

function stepOf({ started_at, ms, ...step }: Message["timeline"][number]): TakenStep {
  const startedAt = Date.parse(started_at);
  return { ...step, startedAt, endedAt: startedAt + ms };
}

/** The first rows; the others are fetched when they are scrolled into view. */
function headOf(message: Message): Head | null {
  if (message.row_count === null) return null;
  const { columns, rows_head: rows, row_count: rowCount, cut_by: cutBy } = message;
  return { columns, rows: rows as Head["rows"], rowCount, cutBy };
}

/**
 * The shown exchanges merged with the stored history, in order. Shown exchanges stay as they are, as they
 * may have more details, unless calls waited there and have been decided elsewhere. Those that the history does
 * not have stay before it if they were loaded before, and come last if they are newer than it.
 */
export function withHistory(shown: Exchange[], history: Exchange[]): Exchange[] {
  const isStored = (each: Exchange) => history.some((other) => isSame(each, other));
  const first = shown.findIndex(isStored);
  const isEarlier = (each: Exchange, index: number) =>
    each.answer.runId !== null && (first < 0 ? each.kept : index < first);
  const merged = history.map((each) => {
    const known = shown.find((other) => isSame(each, other));
    if (known === undefined || (hasWaited(known) && !hasWaited(each))) return each;
    return known;
  });
  return [
    ...shown.filter((each, index) => !isStored(each) && isEarlier(each, index)),
    ...merged,
    ...shown.filter((each, index) => !isStored(each) && !isEarlier(each, index)),
  ];
}

const hasWaited = ({ answer }: Exchange) => answer.phase === "awaiting_approval";

/** Whether two exchanges are one: of one run, or of several that have gone on with one answer. */
function isSame({ answer: one }: Exchange, { answer: other }: Exchange): boolean {
  if (one.messageId !== null && one.messageId === other.messageId) return true;
  return one.runId !== null && one.runId === other.runId;
}
