/** The stored history as exchanges, in the form that a stream has. */
import type { Message } from "../api/types";
import { type Answer, answerFields, type Exchange, type Head, NOTHING } from "./model";

/** Messages oldest first, a question before its answer; a question alone is still being answered. */
export function exchangesOf(messages: Message[]): Exchange[] {
  const answers = new Map(messages.filter(isAnswer).map((each) => [each.run_id, each]));
  const questions = messages.filter((each) => !isAnswer(each) || !hasQuestion(messages, each));
  return questions.map((question) => exchangeOf(question, answers.get(question.run_id)));
}

function isAnswer(message: Message): boolean {
  return message.role === "assistant";
}

/** The question of a page's first answer may be on the page before. */
function hasQuestion(messages: Message[], answer: Message): boolean {
  return messages.some((each) => each.role === "human" && each.run_id === answer.run_id);
}

function exchangeOf(question: Message, answer: Message | undefined): Exchange {
  return {
    key: question.run_id,
    question: question.query,
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
    sql: message.sql ?? "",
    sqlWhole: message.sql !== null,
    investigation: message.steps > 0 ? null : [],
    head: headOf(message),
    analysis: message.analysis ?? "",
    analysisWhole: message.analysis !== null,
    problems: message.error ? [message.error] : [],
    tokensUsed: message.tokens_used,
    elapsedMs: message.elapsed_ms,
  };
}

/** An answer without its rows, which are fetched when it is scrolled into view. */
function headOf(message: Message): Head | null {
  if (message.row_count === null) return null;
  const { columns, row_count: rowCount, cut_by: cutBy } = message;
  return { columns, rows: [], rowCount, cutBy };
}
