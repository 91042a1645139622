/** The only code that calls the API. Every function raises `ApiError`, or `TypeError` when offline. */
import createClient from "openapi-fetch";
import { PAGE, signedFetch, SignedRequest } from "./credential";
import { ApiError, problemIn } from "./problem";
import type { ExampleBody, ExampleRunBody, paths } from "./schema";
import type {
  AnswerVersion,
  AskedQuestion,
  Attribute,
  Checkpoint,
  Consent,
  Fact,
  FactChange,
  FactImport,
  FileBody,
  FileCorrection,
  GraphMemory,
  GraphTest,
  ImportedFacts,
  KeptFact,
  ListedSession,
  NewConsent,
  NewFact,
  Profile,
  Unconfirmed,
  Capabilities,
  ConfirmationBody,
  Connection,
  InspectedStatement,
  Provenance,
  StepCounts,
  InvestigationStepBody,
  McpServer,
  Me,
  Message,
  MessageChange,
  NewReport,
  NewRule,
  PastConversation,
  RowsPage,
  Rule,
  Scan,
  Sample,
  Session,
  SessionWithHistory,
  Table,
  ToolList,
} from "./types";

const http = createClient<paths>({ Request: SignedRequest, fetch: signedFetch });

export interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

async function dataOf<Data>(
  answer: Promise<{ data?: Data; error?: unknown; response: Response }>,
): Promise<Data> {
  const { data, error, response } = await answer;
  if (!response.ok) throw new ApiError(problemIn(error, response.status));
  return data as Data;
}

// Caller

export function readMe(): Promise<Me> {
  return dataOf(http.GET("/api/v1/me"));
}

export function readCapabilities(): Promise<Capabilities> {
  return dataOf(http.GET("/api/v1/capabilities"));
}

export function readTools(): Promise<ToolList> {
  return dataOf(http.GET("/api/v1/tools"));
}

export async function readMcpServers(): Promise<McpServer[]> {
  return (await dataOf(http.GET("/api/v1/mcp/servers"))).items;
}

/** Approves a tool of an MCP server as its fingerprint describes it. */
export async function approveMcpTool(name: string, tool: string, fingerprint: string): Promise<void> {
  const params = { path: { name, tool } };
  const path = "/api/v1/mcp/servers/{name}/tools/{tool}/approve";
  await dataOf(http.POST(path, { params, body: { fingerprint } }));
}

// Rules

/** All rules, the first to count first. */
export async function listRules(): Promise<Rule[]> {
  const rules: Rule[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 100, cursor };
    const page = await dataOf(http.GET("/api/v1/rules", { params: { query } }));
    rules.push(...(page.items as Rule[]));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return rules;
}

export async function addRule(body: NewRule): Promise<void> {
  await dataOf(http.POST("/api/v1/rules", { body }));
}

/** With a version, a rule that was changed since is not changed. */
export async function changeRule(
  name: string,
  body: Partial<Omit<NewRule, "name">>,
  version?: number,
): Promise<void> {
  const headers = version === undefined ? {} : ifMatch(version);
  await dataOf(http.PATCH("/api/v1/rules/{name}", { params: { path: { name } }, body, headers }));
}

export async function deleteRule(name: string): Promise<void> {
  await dataOf(http.DELETE("/api/v1/rules/{name}", { params: { path: { name } } }));
}

/** Returns whom a credential signs in; left out, the cookie. Raises `ApiError` if it is not valid. */
export function readMeBy(credential?: string): Promise<Me> {
  const headers = credential === undefined ? PAGE : { Authorization: `Bearer ${credential}` };
  return dataOf(http.GET("/api/v1/me", { headers, fetch: globalThis.fetch }));
}

// Sessions

export interface WantedSessions {
  q?: string | undefined;
  db_connection_id?: string | undefined;
  status?: Session["status"] | undefined;
  pinned?: boolean | undefined;
}

export function listSessions(
  wanted: WantedSessions,
  cursor?: string,
  limit = 50,
): Promise<Page<ListedSession>> {
  return dataOf(http.GET("/api/v1/sessions", { params: { query: { ...wanted, limit, cursor } } }));
}

export function readSession(session_id: string, cursor?: string, limit = 40): Promise<SessionWithHistory> {
  const params = { path: { session_id }, query: { limit, cursor } };
  return dataOf(http.GET("/api/v1/sessions/{session_id}", { params }));
}

export function createSession(
  db_connection_id: string,
  metadata: Record<string, string> = {},
): Promise<Session> {
  return dataOf(http.POST("/api/v1/sessions", { body: { db_connection_id, mode: "ask", metadata } }));
}

/** Renames a session of a version. */
export function renameSession(session_id: string, title: string, version: number): Promise<Session> {
  const options = { params: { path: { session_id } }, body: { title }, headers: ifMatch(version) };
  return dataOf(http.PATCH("/api/v1/sessions/{session_id}", options));
}

export async function pinSession(session_id: string, pinned: boolean): Promise<void> {
  const params = { path: { session_id } };
  await dataOf(http.PATCH("/api/v1/sessions/{session_id}", { params, body: { pinned } }));
}

/** The questions of a session, oldest first, by pages. */
export function listQuestions(session_id: string, cursor?: string): Promise<Page<AskedQuestion>> {
  const params = { path: { session_id }, query: { limit: 100, cursor } };
  return dataOf(http.GET("/api/v1/sessions/{session_id}/questions", { params }));
}

/** States that a fork can begin from, newest first, by pages. */
export function listCheckpoints(session_id: string, cursor?: string): Promise<Page<Checkpoint>> {
  const params = { path: { session_id }, query: { limit: 100, cursor } };
  return dataOf(http.GET("/api/v1/sessions/{session_id}/checkpoints", { params }));
}

export function forkSession(session_id: string, checkpoint_id: string): Promise<Session> {
  const params = { path: { session_id, checkpoint_id } };
  return dataOf(http.POST("/api/v1/sessions/{session_id}/checkpoints/{checkpoint_id}/fork", { params }));
}

export async function closeSession(session_id: string): Promise<void> {
  const params = { path: { session_id } };
  await dataOf(http.PATCH("/api/v1/sessions/{session_id}", { params, body: { status: "closed" } }));
}

export function resumeSession(session_id: string): Promise<Session> {
  const params = { path: { session_id } };
  return dataOf(http.PATCH("/api/v1/sessions/{session_id}", { params, body: { status: "idle" } }));
}

/** Sets what questions may do from the next one on. */
export function setMode(session_id: string, mode: Session["mode"]): Promise<Session> {
  const params = { path: { session_id } };
  return dataOf(http.PATCH("/api/v1/sessions/{session_id}", { params, body: { mode } }));
}

/** The request outlives the page, so the deletion reaches the server when the tab is closed. */
export async function deleteSession(session_id: string): Promise<void> {
  const options = { params: { path: { session_id } }, keepalive: true };
  await dataOf(http.DELETE("/api/v1/sessions/{session_id}", options));
}

// Runs

/** What the page shows: the server looks it up for the model. */
export interface About {
  kind: "table" | "connection" | "result" | "failed_answer" | "none";
  id: string;
}

export interface Asked {
  query: string;
  sql?: string;
  about?: About;
  /** Only for a session that has no database yet. */
  db_connection_id?: string;
  /** Left out: the session's. */
  mode?: "ask" | "agent";
  multitask_strategy: "reject" | "enqueue" | "interrupt";
}

export async function ask(
  session_id: string,
  body: Asked,
  key: string,
  signal: AbortSignal,
): Promise<Response> {
  const params = { path: { session_id }, header: { "idempotency-key": key } };
  const path = "/api/v1/sessions/{session_id}/query/stream";
  return streamed(await http.POST(path, { params, body, signal, parseAs: "stream" }));
}

export async function followRun(
  session_id: string,
  run_id: string,
  after: number,
  signal: AbortSignal,
): Promise<Response> {
  const params = { path: { session_id, run_id }, header: { "Last-Event-ID": String(after) } };
  const path = "/api/v1/sessions/{session_id}/runs/{run_id}/stream";
  return streamed(await http.GET(path, { params, signal, parseAs: "stream" }));
}

export async function cancelRun(session_id: string, run_id: string): Promise<void> {
  const params = { path: { session_id, run_id } };
  await dataOf(http.POST("/api/v1/sessions/{session_id}/runs/{run_id}/cancel", { params, parseAs: "text" }));
}

function streamed({ error, response }: { error?: unknown; response: Response }): Response {
  if (!response.ok) throw new ApiError(problemIn(error, response.status));
  return response;
}

// Answers

/** Stored rows: those of an answer, or of a call of its investigation. */
export interface RowsPlace {
  session_id: string;
  message_id: string;
  result_id?: string | undefined;
  /** The version of the answer; without one they are those of its own statement. */
  number?: number | undefined;
}

const ANSWER_ROWS = "/api/v1/sessions/{session_id}/messages/{message_id}/rows";
const VERSION_ROWS = "/api/v1/sessions/{session_id}/messages/{message_id}/versions/{number}/rows";
const RESULT_ROWS = "/api/v1/sessions/{session_id}/messages/{message_id}/results/{result_id}/rows";

/** Runs another statement for an answer, which keeps it. */
export function addVersion(session_id: string, message_id: string, sql: string): Promise<AnswerVersion> {
  const params = { path: { session_id, message_id } };
  const path = "/api/v1/sessions/{session_id}/messages/{message_id}/versions";
  return dataOf(http.POST(path, { params, body: { sql } }));
}

export function readRows(place: RowsPlace, limit: number, cursor?: string): Promise<RowsPage> {
  const query = { limit, cursor, format: "json" as const };
  const { result_id, number, ...answer } = place;
  if (number !== undefined)
    return dataOf(http.GET(VERSION_ROWS, { params: { path: { ...answer, number }, query } }));
  if (result_id === undefined) return dataOf(http.GET(ANSWER_ROWS, { params: { path: answer, query } }));
  return dataOf(http.GET(RESULT_ROWS, { params: { path: { ...answer, result_id }, query } }));
}

export async function rowsFile(place: RowsPlace, format: "csv" | "parquet" | "xlsx"): Promise<Blob> {
  const query = { format };
  const { result_id, number, ...answer } = place;
  const parseAs = "blob" as const;
  if (number !== undefined)
    return dataOf(http.GET(VERSION_ROWS, { params: { path: { ...answer, number }, query }, parseAs }));
  if (result_id === undefined)
    return dataOf(http.GET(ANSWER_ROWS, { params: { path: answer, query }, parseAs }));
  return dataOf(http.GET(RESULT_ROWS, { params: { path: { ...answer, result_id }, query }, parseAs }));
}

/** A report as a file. */
export function makeReport(body: NewReport): Promise<Blob> {
  const parseAs = "blob" as const;
  return dataOf(http.POST("/api/v1/reports", { body, parseAs }));
}

/** Reads an uploaded file again, with the types of its columns as a person has chosen them. */
export function correctFile(db_connection_id: string, body: FileCorrection): Promise<FileBody> {
  const params = { path: { db_connection_id } };
  return dataOf(http.PATCH("/api/v1/database-connections/{db_connection_id}/file", { params, body }));
}

/**
 * Stores what a person has chosen of an answer's chart; null goes back to the chart as it was proposed. The
 * request outlives the page, so that a choice of its last moment is kept. Raises `chart-choice` if the rows do
 * not allow it.
 */
export function changeMessage(session_id: string, message_id: string, body: MessageChange): Promise<Message> {
  const options = { params: { path: { session_id, message_id } }, body, keepalive: true };
  return dataOf(http.PATCH("/api/v1/sessions/{session_id}/messages/{message_id}", options));
}

/** What the server makes of a wish in words for an answer's chart. Nothing of it is stored. */
export function sayChart(session_id: string, message_id: string, words: string) {
  const options = { params: { path: { session_id, message_id } }, body: { words } };
  return dataOf(http.POST("/api/v1/sessions/{session_id}/messages/{message_id}/chart", options));
}

/** What the model wanted to know in an answer's investigation, its calls, and what they returned. */
export async function readSteps(session_id: string, message_id: string): Promise<InvestigationStepBody[]> {
  const params = { path: { session_id, message_id } };
  const path = "/api/v1/sessions/{session_id}/messages/{message_id}/steps";
  return (await dataOf(http.GET(path, { params }))).items;
}

/** The calls of a session that wait for a decision. */
export async function readConfirmations(session_id: string): Promise<ConfirmationBody[]> {
  const params = { path: { session_id }, query: { status: "waiting" as const, limit: 100 } };
  return (await dataOf(http.GET("/api/v1/sessions/{session_id}/confirmations", { params }))).items;
}

/** A decision about a call: `edit` approves it with all its `arguments` as given. */
export interface Decision {
  decision: "approve" | "edit" | "deny";
  call_hash: string;
  arguments?: Record<string, unknown>;
  reason?: string;
}

/** Decides about a call. Returns the id of the run that goes on, or null while others wait. */
export async function decideCall(
  session_id: string,
  confirmation_id: string,
  body: Decision,
): Promise<string | null> {
  const params = { path: { session_id, confirmation_id } };
  const path = "/api/v1/sessions/{session_id}/confirmations/{confirmation_id}";
  return (await dataOf(http.POST(path, { params, body }))).run_id;
}

export async function giveFeedback(
  session_id: string,
  message_id: string,
  body: { rating: "up" | "down"; comment?: string; corrected_sql?: string },
): Promise<void> {
  const params = { path: { session_id, message_id } };
  await dataOf(http.POST("/api/v1/sessions/{session_id}/messages/{message_id}/feedback", { params, body }));
}

/** What the statement of an answer, or of a later version, does, what its author knew, and checks of its rows. */
export function readProvenance(
  session_id: string,
  message_id: string,
  version?: number,
): Promise<Provenance> {
  const params = { path: { session_id, message_id }, query: { version } };
  return dataOf(http.GET("/api/v1/sessions/{session_id}/messages/{message_id}/provenance", { params }));
}

// Examples

/** The example that an answer was proposed as, if it waits for a review and the caller may see it. */
export async function findProposal(
  db_connection_id: string,
  message_id: string,
): Promise<ExampleBody | null> {
  const query = { db_connection_id, status: "proposed" as const, limit: 100 };
  const { items } = await dataOf(http.GET("/api/v1/examples", { params: { query } }));
  return items.find((each) => each.message_id === message_id) ?? null;
}

export function testExample(example_id: string, sql: string): Promise<ExampleRunBody> {
  const params = { path: { example_id } };
  return dataOf(http.POST("/api/v1/examples/{example_id}/test", { params, body: { sql } }));
}

export async function verifyExample(example_id: string, question: string, sql: string): Promise<void> {
  const options = { params: { path: { example_id } }, body: { question, sql, status: "verified" as const } };
  await dataOf(http.PATCH("/api/v1/examples/{example_id}", options));
}

// Memory

export interface WantedFacts {
  q?: string;
  scope?: Fact["scope"];
  kind?: Fact["kind"];
  status?: Fact["status"];
  message_id?: string;
}

export function listFacts(wanted: WantedFacts, cursor?: string): Promise<Page<Fact>> {
  return dataOf(http.GET("/api/v1/memory/facts", { params: { query: { ...wanted, limit: 100, cursor } } }));
}

export function readFact(fact_id: string): Promise<Fact> {
  return dataOf(http.GET("/api/v1/memory/facts/{fact_id}", { params: { path: { fact_id } } }));
}

export function keepFact(body: NewFact): Promise<KeptFact> {
  return dataOf(http.POST("/api/v1/memory/facts", { body }));
}

export function changeFact(fact_id: string, change: FactChange, confirm = false): Promise<KeptFact> {
  const options = { params: { path: { fact_id } }, body: { ...change, confirm } };
  return dataOf(http.PATCH("/api/v1/memory/facts/{fact_id}", options));
}

/** The request outlives the page, so the deletion reaches the server when the tab is closed. */
export async function forgetFact(fact_id: string): Promise<void> {
  const options = { params: { path: { fact_id } }, keepalive: true };
  await dataOf(http.DELETE("/api/v1/memory/facts/{fact_id}", options));
}

export function readProfile(): Promise<Profile> {
  return dataOf(http.GET("/api/v1/memory/profile"));
}

export function consentToProfile(consent: boolean): Promise<Profile> {
  return dataOf(http.PATCH("/api/v1/memory/profile", { body: { consent } }));
}

/** Adds and forgets items of an attribute, and leaves the others. The request outlives the page. */
export async function changeProfile(
  attribute: Attribute,
  change: { add?: string[]; remove?: string[]; confirm?: boolean },
): Promise<void> {
  const body = { add: [], remove: [], confirm: false, ...change };
  const options = { params: { path: { attribute } }, body, keepalive: true };
  await dataOf(http.PATCH("/api/v1/memory/profile/{attribute}", options));
}

export async function forgetAttribute(attribute: Attribute): Promise<void> {
  const params = { path: { attribute } };
  await dataOf(http.DELETE("/api/v1/memory/profile/{attribute}", { params }));
}

export function readGraphMemory(): Promise<GraphMemory> {
  return dataOf(http.GET("/api/v1/memory/graph"));
}

export function testGraphMemory(mode: GraphTest["mode"]): Promise<GraphTest> {
  return dataOf(http.POST("/api/v1/memory/graph/test", { body: { mode } }));
}

export async function listConsents(): Promise<Consent[]> {
  return (await dataOf(http.GET("/api/v1/memory/consents", { params: { query: { limit: 100 } } }))).items;
}

export async function grantConsent(body: NewConsent): Promise<void> {
  await dataOf(http.PUT("/api/v1/memory/consents", { body }));
}

export async function withdrawConsent(db_connection_id: string, erase: boolean): Promise<void> {
  await dataOf(http.DELETE("/api/v1/memory/consents", { params: { query: { db_connection_id, erase } } }));
}

export function importFacts(body: FactImport): Promise<ImportedFacts> {
  return dataOf(http.POST("/api/v1/memory/facts/import", { body }));
}

export interface CountedMemory {
  facts: number;
  conversations: number;
  consents: number;
}

/** How much memory holds of the caller. */
export async function countMemory(): Promise<CountedMemory> {
  const { facts, conversations, consents } = await dataOf(http.GET("/api/v1/memory/export"));
  return { facts: facts.length, conversations: conversations.length, consents: consents.length };
}

/** Everything that memory holds of the caller. */
export function exportMemory(): Promise<Blob> {
  return dataOf(http.GET("/api/v1/memory/export", { parseAs: "blob" }));
}

/** Deletes everything that memory holds of the caller. Returns what is not confirmed as deleted yet. */
export async function forgetMemory(): Promise<Unconfirmed[]> {
  return (await dataOf(http.DELETE("/api/v1/memory"))).not_confirmed;
}

/** Summaries of the caller's conversations, last written first. */
export async function listPastConversations(
  userId: string,
  cursor?: string,
): Promise<Page<PastConversation>> {
  const params = { path: { userId }, query: { limit: 30, cursor } };
  const path = "/api/memory/users/{userId}/memories";
  const { memories, nextCursor } = await dataOf(http.GET(path, { params }));
  return { items: memories, next_cursor: nextCursor };
}

/** Summaries of conversations that fit the words, best first. */
export async function searchPastConversations(userId: string, query: string): Promise<PastConversation[]> {
  const path = "/api/memory/users/{userId}/conversations/search";
  const params = { path: { userId } };
  return (await dataOf(http.POST(path, { params, body: { query, limit: 20 } }))).conversations;
}

// Connections

export function listConnections(): Promise<Page<Connection>> {
  return dataOf(http.GET("/api/v1/database-connections", { params: { query: { limit: 100 } } }));
}

export interface NewConnection {
  url: string;
  name: string;
  description: string;
  shared: boolean;
  schemas?: string[];
}

export function addConnection(body: NewConnection): Promise<Connection> {
  return dataOf(http.POST("/api/v1/database-connections", { body }));
}

export function shareConnection(db_connection_id: string, shared: boolean): Promise<Connection> {
  const params = { path: { db_connection_id } };
  return dataOf(http.PATCH("/api/v1/database-connections/{db_connection_id}", { params, body: { shared } }));
}

/** Says whether a service outside of KAI may remember the database, with the consent of its users. */
export async function allowExternalMemory(db_connection_id: string, external_memory: boolean): Promise<void> {
  const options = { params: { path: { db_connection_id } }, body: { external_memory } };
  await dataOf(http.PATCH("/api/v1/database-connections/{db_connection_id}", options));
}

export async function deleteConnection(db_connection_id: string): Promise<void> {
  const params = { path: { db_connection_id } };
  await dataOf(http.DELETE("/api/v1/database-connections/{db_connection_id}", { params }));
}

/** Starts a scan in the background, and returns its progress. */
export function startScan(db_connection_id: string): Promise<Scan> {
  const params = { path: { db_connection_id } };
  return dataOf(http.POST("/api/v1/database-connections/{db_connection_id}/scan", { params }));
}

export function readScan(db_connection_id: string): Promise<Scan> {
  const params = { path: { db_connection_id } };
  return dataOf(http.GET("/api/v1/database-connections/{db_connection_id}/scan", { params }));
}

export function listTables(db_connection_id: string, cursor?: string): Promise<Page<Table>> {
  const params = { path: { db_connection_id }, query: { limit: 100, cursor } };
  return dataOf(http.GET("/api/v1/database-connections/{db_connection_id}/tables", { params }));
}

export function sampleTable(db_connection_id: string, table_name: string): Promise<Sample> {
  const params = { path: { db_connection_id, table_name } };
  return dataOf(
    http.GET("/api/v1/database-connections/{db_connection_id}/tables/{table_name}/sample", { params }),
  );
}

export function describeTable(
  db_connection_id: string,
  table_name: string,
  description: string,
): Promise<Table> {
  const params = { path: { db_connection_id, table_name } };
  const path = "/api/v1/database-connections/{db_connection_id}/tables/{table_name}";
  return dataOf(http.PATCH(path, { params, body: { description } }));
}

export interface ColumnEdit {
  description?: string;
  unit?: string;
  hidden?: boolean;
}

export function editColumn(
  db_connection_id: string,
  table_name: string,
  column: string,
  edit: ColumnEdit,
): Promise<Table> {
  const params = { path: { db_connection_id, table_name } };
  const path = "/api/v1/database-connections/{db_connection_id}/tables/{table_name}";
  return dataOf(http.PATCH(path, { params, body: { columns: { [column]: edit } } }));
}

export function inspectStatement(db_connection_id: string, sql: string): Promise<InspectedStatement> {
  const params = { path: { db_connection_id } };
  return dataOf(
    http.POST("/api/v1/database-connections/{db_connection_id}/statements", { params, body: { sql } }),
  );
}

/** Counts the rows of a statement step by step, by statements of their own. */
export function countSteps(db_connection_id: string, sql: string): Promise<StepCounts> {
  const params = { path: { db_connection_id } };
  return dataOf(
    http.POST("/api/v1/database-connections/{db_connection_id}/statements/counts", { params, body: { sql } }),
  );
}

/** The header of a change of one version only. */
const ifMatch = (version: number) => ({ "If-Match": `"${version}"` });

/** Calls a route by a path under /api/v1, for routes that are alike for several kinds of records. */
export async function call<Answer>(
  method: string,
  path: string,
  body?: object,
  version?: number,
): Promise<Answer> {
  const headers = { "Content-Type": "application/json", ...(version !== undefined && ifMatch(version)) };
  const sent = body && { headers, body: JSON.stringify(body) };
  const response = await signedFetch(new SignedRequest(`/api/v1/${path}`, { method, ...sent }));
  const answer: unknown = response.status === 204 ? {} : await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(problemIn(answer, response.status));
  return answer as Answer;
}
