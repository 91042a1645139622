/** The words of the API, as its OpenAPI document says them. */
import type {
  AnalysisChunk,
  AppModulesDatabaseConnectionSchemaColumn,
  ChartChunk,
  ClaimsChunk,
  ClarificationChunk,
  Done,
  Failure,
  GraphStateColumn,
  MessageBody,
  Reset,
  ResultsChunk,
  SqlChunk,
  Status,
  SuggestionsChunk,
  TextChunk,
} from "./schema";

export type {
  Claim,
  ConnectionBody as Connection,
  Failure,
  InspectedStatementBody as InspectedStatement,
  MeBody as Me,
  MessageBody as Message,
  Option,
  RowsPage,
  SampleBody as Sample,
  SessionBody as Session,
  SessionWithHistory,
  TableBody as Table,
} from "./schema";

export type Column = GraphStateColumn;
export type TableColumn = AppModulesDatabaseConnectionSchemaColumn;
export type Cut = NonNullable<MessageBody["cut_by"]>;
export type Cell = string | number | boolean | null | object;
export type Row = Cell[];
export type Step = Status["step"];

type Said = Status | Chunk | Reset | Failure | Done;
type Chunk =
  | TextChunk
  | SqlChunk
  | ResultsChunk
  | ChartChunk
  | AnalysisChunk
  | ClaimsChunk
  | ClarificationChunk
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

/** How far a scan in the background is; `tables_total` is null until all tables are known. */
export interface Scan {
  state: "never" | "running" | "complete" | "failed";
  tables_total: number | null;
  tables_done: number;
  error: string | null;
}
