/** Types of the API, from its OpenAPI document. */
import type {
  AnalysisChunk,
  ChartChunk,
  ClaimsChunk,
  ClarificationChunk,
  Done,
  Failure,
  FindingsChunk,
  MessageBody,
  Progress,
  Reset,
  ResultsChunk,
  SqlChunk,
  Status,
  SuggestionsChunk,
  TextChunk,
  ToolCalled,
  ToolReturned,
} from "./schema";

export type {
  CapabilitiesBody as Capabilities,
  Claim,
  Column,
  ConnectionBody as Connection,
  Failure,
  Finding,
  InspectedStatementBody as InspectedStatement,
  MeBody as Me,
  MessageBody as Message,
  Option,
  RowsPage,
  SampleBody as Sample,
  SessionBody as Session,
  SessionWithHistory,
  StepBody as InvestigationStepBody,
  TableBody as Table,
  TableColumn,
} from "./schema";

/** Fields of an answer that the page keeps as the API sends them. `Answer` in conversation/model.ts has the
 * others in a form of its own. */
export type AnswerFields = Omit<
  MessageBody,
  | "id"
  | "run_id"
  | "role"
  | "query"
  | "status"
  | "error"
  | "tokens_used"
  | "elapsed_ms"
  | "timestamp"
  | "route"
  | "sql"
  | "columns"
  | "row_count"
  | "truncated"
  | "cut_by"
  | "results_summary"
  | "steps"
  | "tool_calls"
  | "limit_reached"
  | "analysis"
>;

export type Cut = NonNullable<MessageBody["cut_by"]>;
export type Cell = string | number | boolean | null | object;
export type Row = Cell[];
export type Step = Status["step"];

type Said = Status | Chunk | ToolCalled | Progress | ToolReturned | Reset | Failure | Done;
type Chunk =
  | TextChunk
  | SqlChunk
  | ResultsChunk
  | ChartChunk
  | AnalysisChunk
  | ClaimsChunk
  | ClarificationChunk
  | FindingsChunk
  | SuggestionsChunk;

/** An event of a run with its place in it. */
export type RunEvent = Said & { id: number };

/** What went wrong (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  active_run_id?: string | null;
}

/** Progress of a scan in the background; `tables_total` is null until all tables are known. */
export interface Scan {
  state: "never" | "running" | "complete" | "failed";
  tables_total: number | null;
  tables_done: number;
  error: string | null;
}
