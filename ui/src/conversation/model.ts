/** The contents of a conversation: exchanges, each a question and its answer so far. */
import type { AnswerFields, Column, Cut, Failure, Problem, Row, Step } from "../api/types";

/** `sending` until the server has taken the question; the last three are final. */
export type Phase = "sending" | "running" | "complete" | "failed" | "cancelled";

/** A step of the timeline; times are epoch milliseconds of the server's clock. */
export interface TakenStep {
  step: Step;
  message: string;
  startedAt: number;
  endedAt: number | null;
}

/** A statement that was repaired, and why. */
export interface FailedStatement {
  sql: string;
  error: string;
}

/** A call of a tool. It is `running` until its result has come; that of an ended run never came then. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  status: "running" | "done" | "failed";
  /** The text that the model has read. */
  content: string;
  /** The id of the rows that it has fetched. */
  resultId: string | null;
  elapsedMs: number | null;
  progress: { message: string; fraction: number } | null;
}

/** A step of an investigation with calls: what the model said before them, and the calls. */
export interface InvestigationStep {
  number: number;
  text: string;
  calls: ToolCall[];
}

/** The head of the rows; the rest is fetched by the answer's message id. */
export interface Head {
  columns: Column[];
  rows: Row[];
  rowCount: number;
  cutBy: Cut | null;
}

/** An answer. While `sql` or `analysis` is being written, `sqlWhole` or `analysisWhole` is false. */
export interface Answer extends AnswerFields {
  phase: Phase;
  runId: string | null;
  messageId: string | null;
  steps: TakenStep[];
  sql: string;
  sqlWhole: boolean;
  repairs: FailedStatement[];
  /** Null for a stored answer whose steps have not been read yet. */
  investigation: InvestigationStep[] | null;
  /** What the model writes before its next calls, or before it ends the investigation. */
  thought: string;
  head: Head | null;
  analysis: string;
  analysisWhole: boolean;
  problems: (Failure | Problem)[];
  tokensUsed: number;
  elapsedMs: number | null;
}

export interface Exchange {
  /** Stable from sending to the stored history: the run's id once there is one. */
  key: string;
  question: string;
  /** The analyst's own statement, if one was given. */
  sql?: string;
  askedAt: number;
  answer: Answer;
  /** Whether the answer was read from the stored history. */
  kept: boolean;
}

const NO_FIELDS: AnswerFields = {
  dialect: "",
  explanation: "",
  standalone_question: "",
  corrections: [],
  claims: [],
  findings: [],
  chart: null,
  clarification: null,
  options: [],
  suggestions: [],
};

export const NOTHING: Answer = {
  ...NO_FIELDS,
  phase: "sending",
  runId: null,
  messageId: null,
  steps: [],
  sql: "",
  sqlWhole: false,
  repairs: [],
  investigation: [],
  thought: "",
  head: null,
  analysis: "",
  analysisWhole: false,
  problems: [],
  tokensUsed: 0,
  elapsedMs: null,
};

export function isAnswerField(name: string): name is keyof AnswerFields {
  return name in NO_FIELDS;
}

/** The fields of an answer that an event or a message has under their own names. */
export function answerFields(source: object): Partial<AnswerFields> {
  return Object.fromEntries(Object.entries(source).filter(([name]) => isAnswerField(name)));
}

export function isUnderWay(answer: Answer): boolean {
  return answer.phase === "sending" || answer.phase === "running";
}
