/** The contents of a conversation: exchanges, each a question and its answer so far. */
import type { About } from "../api/client";
import type { AnswerFields, Column, Cut, NamedFact, Problem, Row, RunEvent, Step } from "../api/types";

/** `sending` until the server has taken the question; the last three are final. */
export type Phase = "sending" | "running" | "awaiting_approval" | "complete" | "failed" | "cancelled";

/** A step of the timeline; times are epoch milliseconds of the server's clock. */
export interface TakenStep {
  step: Step;
  message: string;
  startedAt: number;
  endedAt: number | null;
  /** The statement to be repaired, in such a step. */
  statement: string | null;
  error: string | null;
  /** Number of rows that it has fetched. */
  rows: number | null;
  /** Number of tokens that models used. */
  tokens: number;
}

/** What a person sees before a call runs. */
export interface Confirmation {
  description: string;
  /** A database, or the address of a server. */
  destination: string;
  warnings: string[];
  /** Of exactly what will run: the decision repeats it. */
  callHash: string;
  /** Epoch milliseconds. */
  expiresAt: number;
}

/**
 * A call of a tool. It is `running` until its result has come; that of an ended run never came then. It is
 * `waiting` until a person decides, `approved` until the run that goes on makes it.
 */
export interface ToolCall {
  id: string;
  name: string;
  /** Once a person has approved others, those. */
  arguments: Record<string, unknown>;
  isEdited: boolean;
  status:
    "running" | "waiting" | "approved" | "done" | "failed" | "denied" | "expired" | "withdrawn" | "unknown";
  /** The text that the model has read. */
  content: string;
  /** The id of the rows that it has fetched. */
  resultId: string | null;
  /** Its first rows, from the stream. Those of a stored call are read when they are looked at. */
  head: Head | null;
  elapsedMs: number | null;
  progress: { message: string; fraction: number } | null;
  /** Of a call that waits, or has waited on this page. */
  confirmation: Confirmation | null;
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
  /** Null for a stored answer whose steps have not been read yet. */
  investigation: InvestigationStep[] | null;
  /** What the model writes before its next calls, or before it ends the investigation. */
  thought: string;
  /** How far the run is, if it says so itself. */
  progress: ToolCall["progress"];
  head: Head | null;
  analysis: string;
  analysisWhole: boolean;
  problems: Problem[];
  /** The facts in `remembered` that the stream has named. Of a stored answer only their ids are known. */
  used: NamedFact[];
  /** Facts that the answer has kept. */
  kept: NamedFact[];
  /** Why something was not kept. */
  refusals: string[];
  tokensUsed: number;
  /** Tokens that the run had used when the step that goes on began. */
  tokensBefore: number;
  elapsedMs: number | null;
  databaseMs: number;
  /** Bytes that the database read, as far as it says so. */
  bytesRead: number | null;
}

export interface Exchange {
  /** Stable from sending to the stored history: the run's id once there is one. */
  key: string;
  question: string;
  /** The id of the question's message, if it was read from the stored history. */
  questionId?: string;
  /** The analyst's own statement, if one was given. */
  sql?: string;
  /** What the page showed, if it proposed the question. */
  about?: About;
  askedAt: number;
  answer: Answer;
  /** Whether the answer was read from the stored history. */
  kept: boolean;
}

type SqlChunk = Extract<RunEvent, { type: "sql" }>;
type StatementField = Exclude<keyof AnswerFields & keyof SqlChunk, "explanation" | "standalone_question">;

/** What belongs to a statement, before it is whole. A repair leaves how the question was understood. */
export const NO_STATEMENT: Pick<AnswerFields, StatementField> = {
  dialect: "",
  sql_pretty: "",
  corrections: [],
};

const NO_FIELDS: AnswerFields = {
  ...NO_STATEMENT,
  explanation: "",
  standalone_question: "",
  headline: null,
  references: [],
  left_out: [],
  findings: [],
  code: [],
  link: [],
  action: [],
  chart: null,
  chart_choice: null,
  chosen_chart: null,
  chart_refusal: null,
  feedback: null,
  clarification: null,
  options: [],
  remembered: [],
  context: null,
  suggestions: [],
  versions: [],
};

export const NOTHING: Answer = {
  ...NO_FIELDS,
  phase: "sending",
  runId: null,
  messageId: null,
  steps: [],
  sql: "",
  sqlWhole: false,
  investigation: [],
  thought: "",
  progress: null,
  head: null,
  analysis: "",
  analysisWhole: false,
  problems: [],
  used: [],
  kept: [],
  refusals: [],
  tokensUsed: 0,
  tokensBefore: 0,
  elapsedMs: null,
  databaseMs: 0,
  bytesRead: null,
};

export function isAnswerField(name: string): name is keyof AnswerFields {
  return name in NO_FIELDS;
}

/** The fields of an answer that an event or a message has under their own names. */
export function answerFields(source: object): Partial<AnswerFields> {
  return Object.fromEntries(Object.entries(source).filter(([name]) => isAnswerField(name)));
}

/** The answer's own statement as it is shown: laid out, or as far as it is written. */
export function shownSql({ sql, sql_pretty }: Answer): string {
  return sql_pretty || sql;
}

export function isUnderWay(answer: Answer): boolean {
  return answer.phase === "sending" || answer.phase === "running";
}

/** Whether nothing can be read yet: headline, picture and text come in one frame. */
export function isAwaited(answer: Answer): boolean {
  const { headline, head, analysis, analysisWhole, clarification, problems } = answer;
  const isSaid = head === null ? analysis !== "" : analysisWhole;
  return isUnderWay(answer) && !headline && !isSaid && !clarification && problems.length === 0;
}

/** Whether a call of the answer waits for a person. Its run ends then, a moment after it has said so. */
export function waitsForDecision({ investigation }: Answer): boolean {
  return (investigation ?? []).some((step) => step.calls.some((call) => call.status === "waiting"));
}
