/** The only code that calls the API. Every function raises `ApiError`, or `TypeError` when offline. */
import createClient from "openapi-fetch";
import { signedFetch } from "./credential";
import { ApiError, problemIn } from "./problem";
import type { paths } from "./schema";
import type {
  Capabilities,
  Connection,
  InspectedStatement,
  InvestigationStepBody,
  Me,
  RowsPage,
  Scan,
  Sample,
  Session,
  SessionWithHistory,
  Table,
} from "./types";

const http = createClient<paths>({ fetch: signedFetch });

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

/** Raises `ApiError` if the credential is not valid. */
export async function checkCredential(credential: string): Promise<void> {
  const headers = { Authorization: `Bearer ${credential}` };
  await dataOf(http.GET("/api/v1/me", { headers, fetch: globalThis.fetch }));
}

// Sessions

export function listSessions(q: string, cursor?: string): Promise<Page<Session>> {
  const query = { limit: 50, q: q || undefined, cursor };
  return dataOf(http.GET("/api/v1/sessions", { params: { query } }));
}

export function readSession(session_id: string, cursor?: string): Promise<SessionWithHistory> {
  const params = { path: { session_id }, query: { limit: 40, cursor } };
  return dataOf(http.GET("/api/v1/sessions/{session_id}", { params }));
}

export function createSession(db_connection_id: string): Promise<Session> {
  return dataOf(http.POST("/api/v1/sessions", { body: { db_connection_id, mode: "ask" } }));
}

export function renameSession(session_id: string, title: string): Promise<Session> {
  return dataOf(
    http.PATCH("/api/v1/sessions/{session_id}", { params: { path: { session_id } }, body: { title } }),
  );
}

export function resumeSession(session_id: string): Promise<Session> {
  const params = { path: { session_id } };
  return dataOf(http.PATCH("/api/v1/sessions/{session_id}", { params, body: { status: "idle" } }));
}

/** The request outlives the page, so the deletion reaches the server when the tab is closed. */
export async function deleteSession(session_id: string): Promise<void> {
  const options = { params: { path: { session_id } }, keepalive: true };
  await dataOf(http.DELETE("/api/v1/sessions/{session_id}", options));
}

// Runs

export interface Asked {
  query: string;
  sql?: string;
  on_busy: "reject" | "enqueue" | "interrupt";
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
}

const ANSWER_ROWS = "/api/v1/sessions/{session_id}/messages/{message_id}/rows";
const RESULT_ROWS = "/api/v1/sessions/{session_id}/messages/{message_id}/results/{result_id}/rows";

export function readRows(place: RowsPlace, limit: number, cursor?: string): Promise<RowsPage> {
  const query = { limit, cursor, format: "json" as const };
  const { result_id, ...answer } = place;
  if (result_id === undefined) return dataOf(http.GET(ANSWER_ROWS, { params: { path: answer, query } }));
  return dataOf(http.GET(RESULT_ROWS, { params: { path: { ...answer, result_id }, query } }));
}

export async function rowsFile(place: RowsPlace, format: "csv" | "parquet"): Promise<Blob> {
  const query = { format };
  const { result_id, ...answer } = place;
  const parseAs = "blob" as const;
  if (result_id === undefined)
    return dataOf(http.GET(ANSWER_ROWS, { params: { path: answer, query }, parseAs }));
  return dataOf(http.GET(RESULT_ROWS, { params: { path: { ...answer, result_id }, query }, parseAs }));
}

/** What the model wanted to know in an answer's investigation, its calls, and what they returned. */
export async function readSteps(session_id: string, message_id: string): Promise<InvestigationStepBody[]> {
  const params = { path: { session_id, message_id } };
  const path = "/api/v1/sessions/{session_id}/messages/{message_id}/steps";
  return (await dataOf(http.GET(path, { params }))).items;
}

export async function giveFeedback(
  session_id: string,
  message_id: string,
  body: { rating: "up" | "down"; comment?: string; corrected_sql?: string },
): Promise<void> {
  const params = { path: { session_id, message_id } };
  await dataOf(http.POST("/api/v1/sessions/{session_id}/messages/{message_id}/feedback", { params, body }));
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
}

export function addConnection(body: NewConnection): Promise<Connection> {
  return dataOf(http.POST("/api/v1/database-connections", { body }));
}

export function shareConnection(connection_id: string, shared: boolean): Promise<Connection> {
  const params = { path: { connection_id } };
  return dataOf(http.PATCH("/api/v1/database-connections/{connection_id}", { params, body: { shared } }));
}

export async function deleteConnection(connection_id: string): Promise<void> {
  const params = { path: { connection_id } };
  await dataOf(http.DELETE("/api/v1/database-connections/{connection_id}", { params }));
}

/** Starts a scan in the background, and returns its progress. */
export function startScan(connection_id: string): Promise<Scan> {
  const params = { path: { connection_id } };
  return dataOf(http.POST("/api/v1/database-connections/{connection_id}/scan", { params }));
}

export function readScan(connection_id: string): Promise<Scan> {
  const params = { path: { connection_id } };
  return dataOf(http.GET("/api/v1/database-connections/{connection_id}/scan", { params }));
}

export function listTables(connection_id: string, cursor?: string): Promise<Page<Table>> {
  const params = { path: { connection_id }, query: { limit: 100, cursor } };
  return dataOf(http.GET("/api/v1/database-connections/{connection_id}/tables", { params }));
}

export function sampleTable(connection_id: string, table_name: string): Promise<Sample> {
  const params = { path: { connection_id, table_name } };
  return dataOf(
    http.GET("/api/v1/database-connections/{connection_id}/tables/{table_name}/sample", { params }),
  );
}

export function describeTable(
  connection_id: string,
  table_name: string,
  description: string,
): Promise<Table> {
  const params = { path: { connection_id, table_name } };
  const path = "/api/v1/database-connections/{connection_id}/tables/{table_name}";
  return dataOf(http.PATCH(path, { params, body: { description } }));
}

export function inspectStatement(connection_id: string, sql: string): Promise<InspectedStatement> {
  const params = { path: { connection_id } };
  return dataOf(
    http.POST("/api/v1/database-connections/{connection_id}/statements", { params, body: { sql } }),
  );
}

/** Calls a route by a path under /api/v1, for routes that are alike for several kinds of records. */
export async function call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const headers = { "Content-Type": "application/json" };
  const sent = body && { headers, body: JSON.stringify(body) };
  const response = await signedFetch(new Request(`/api/v1/${path}`, { method, ...sent }));
  const answer: unknown = response.status === 204 ? {} : await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(problemIn(answer, response.status));
  return answer as Answer;
}
