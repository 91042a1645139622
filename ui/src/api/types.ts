/** Types of the API, from its OpenAPI document. */
import type {
  AnalysisChunk,
  AttributesBody,
  ChartChunk,
  ClarificationChunk,
  Confirmation,
  ConfirmationDecided,
  ContextChunk,
  Done,
  FactChange as WholeFactChange,
  Failure,
  FindingsChunk,
  HeadlineChunk,
  LeftOutChunk,
  ReferencesChunk,
  CodeChunk,
  LinkChunk,
  ActionChunk,
  FoundConversation,
  LinkBody,
  Memory,
  MemoryBody,
  MessageBody,
  Progress,
  Reset,
  ResultsChunk,
  RuleBody,
  RuleScopeBody,
  SqlChunk,
  Status,
  SuggestionsChunk,
  TextChunk,
  ToolCalled,
  ToolReturned,
} from "./schema";

export type {
  AnswerVersion,
  ApiKeyBody as ApiKey,
  AskedQuestion,
  BoardBody as Board,
  BoardWithPins,
  CapabilitiesBody as Capabilities,
  CheckedDatabaseBody as CheckedDatabase,
  DatabaseSchemaBody as DatabaseSchema,
  CheckpointBody as Checkpoint,
  ChartChoice,
  Column,
  ConfirmationBody,
  ConnectionBody as Connection,
  Failure,
  Finding,
  Reference,
  Action,
  Code,
  Link,
  InspectedStatementBody as InspectedStatement,
  LinkBody as SharedLink,
  McpServerBody as McpServer,
  McpToolBody as McpTool,
  MeBody as Me,
  ModelBody as Model,
  ModelPage,
  NewApiKey,
  NewApiKeyBody as MadeApiKey,
  UsageBody as Usage,
  NoticeBody as Notice,
  CommentBody as Comment,
  ScheduleBody as Schedule,
  TriedTargetBody as TriedTarget,
  ConsentBody as Consent,
  FactBody as Fact,
  GraphMemoryBody as GraphMemory,
  GraphTestBody as GraphTest,
  FactImport,
  FileBody,
  FileCorrection,
  ImportedEntryBody as ImportedEntry,
  ImportedFacts,
  KnowledgeImported,
  KeptFact,
  ListedSession,
  NewConsent,
  NewFactBody as NewFact,
  NotConfirmedBody as Unconfirmed,
  ExampleBody as Example,
  ExampleMatch,
  ExampleRunBody as ExampleRun,
  KnownExampleBody as KnownExample,
  ProvenanceBody as Provenance,
  QueryDescription,
  StepCountsBody as StepCounts,
  ResultCheck,
  PinBody as Pin,
  ProfileBody as Profile,
  ProfileItemBody as ProfileItem,
  MessageBody as Message,
  MessageChange,
  NamedFact,
  NewReport,
  NewRule,
  Option,
  Overview,
  OverviewBody as DatabaseOverview,
  Figure as OverviewFigure,
  RowsPage,
  SampleBody as Sample,
  SessionBody as Session,
  SessionWithHistory,
  SharedBody as Shared,
  StepBody as InvestigationStepBody,
  TableBody as Table,
  TermBody as Term,
  TableColumn,
  ToolBody as Tool,
  ToolList,
  UploadedColumn,
} from "./schema";

/** The memory of a conversation; of a search with its relevance. */
export type PastConversation = MemoryBody & Partial<Pick<FoundConversation, "relevance">>;

/** One change of a fact. */
export type FactChange = Omit<WholeFactChange, "confirm">;

/** What a link is made to. */
export type LinkKind = LinkBody["kind"];

/** A part of a profile. */
export type Attribute = keyof AttributesBody;

/** A rule as the API returns it: with every field of its scope. */
export type Rule = Omit<RuleBody, "scope"> & { scope: Required<RuleScopeBody> };

/** Fields of an answer that the page keeps as the API sends them. `Answer` in conversation/model.ts has the
 * others in a form of its own. */
export type AnswerFields = Omit<
  MessageBody,
  | "id"
  | "version"
  | "run_id"
  | "client_message_id"
  | "source_message_id"
  | "given_sql"
  | "timeline"
  | "rows_head"
  | "role"
  | "query"
  | "status"
  | "error"
  | "tokens_used"
  | "elapsed_ms"
  | "database_ms"
  | "rows_read"
  | "bytes_read"
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

type Said =
  | Status
  | Chunk
  | ToolCalled
  | Progress
  | Memory
  | ToolReturned
  | Confirmation
  | ConfirmationDecided
  | Reset
  | Failure
  | Done;
type Chunk =
  | TextChunk
  | SqlChunk
  | ResultsChunk
  | ChartChunk
  | AnalysisChunk
  | HeadlineChunk
  | ReferencesChunk
  | LeftOutChunk
  | ClarificationChunk
  | ContextChunk
  | FindingsChunk
  | CodeChunk
  | LinkChunk
  | ActionChunk
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
  /** The same question may succeed if it is asked again. */
  retryable?: boolean;
}

/** Progress of a scan in the background; `tables_total` is null until all tables are known. */
export interface Scan {
  state: "never" | "running" | "complete" | "failed";
  tables_total: number | null;
  tables_done: number;
  error: string | null;
}
