// Calls of clients that were made from the OpenAPI document, checked by `tsc --strict`.
import createClient from "openapi-fetch";
import type { components, paths } from "./typed";
import { client } from "./made/client.gen";
import * as made from "./made";

declare const process: { env: Record<string, string> };
const baseUrl = process.env.ADDRESS;

function of<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.error || answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

function same(found: unknown, wanted: unknown) {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) throw new Error(`${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
}

async function callMade(): Promise<[string, string | undefined]> {
  client.setConfig({ baseUrl });
  const database = of(await made.registerConnection({ body: { url: process.env.SHOP, name: "Made" } }));
  same(of(await made.readConnection({ path: { db_connection_id: database.id } })).name, "Made");
  same(of(await made.readMe()).role, "admin");
  const body = { query: "How many?", sql: "SELECT count(*) AS n FROM customers", database: database.id, keep: true };
  const headers = { "idempotency-key": "made", Prefer: "wait=50" };
  const answer = of(await made.askQuestion({ body, headers }));
  if (!("rows" in answer)) throw new Error("it is not answered in time");
  same(answer.rows, [[3]]);
  const path = { session_id: answer.session_id, run_id: answer.run_id };
  same(of(await made.readRun({ path })).status, "complete");
  same(of(await made.listSessionRuns({ path, query: { status: "complete", total: true } })).total, 1);
  same(of(await made.listMessages({ path })).items.length, 2);
  same(of(await made.changeSession({ path, body: { title: "Talk" } })).version, 1);
  same(of(await made.readSession({ path })).title, "Talk");
  const term = of(await made.addTerm({ body: { db_connection_id: database.id, term: "churn", meaning: "who left" } }));
  same(of(await made.changeTerm({ path: { term_id: term.id }, body: { meaning: "gone" } })).meaning, "gone");
  same(of(await made.listTerms({ query: { db_connection_id: database.id, sort: "-created_at" } })).items.length, 1);
  const board = of(await made.createBoard({ body: { title: "Sales" } }));
  const board_id = board.id;
  same(of(await made.pinAnswer({ path: { board_id }, body: { message_id: answer.id } })).state, "current");
  same(of(await made.changeBoard({ path: { board_id }, body: { title: "Takings" } })).title, "Takings");
  same(of(await made.readBoard({ path: { board_id } })).pins.length, 1);
  same(of(await made.readProblem({ path: { kind: "storage-unavailable" } })).retryable, true);
  await made.deleteBoard({ path: { board_id } });
  const missing = await made.readBoard({ path: { board_id } });
  return [board.title, missing.error?.type];
}

async function callTyped(): Promise<[string, string | undefined]> {
  const typed = createClient<paths>({ baseUrl });
  const database = of(await typed.POST("/api/v1/database-connections", { body: { url: process.env.SHOP, name: "Typed", description: "", shared: false, schemas: [] } }));
  const params = { path: { db_connection_id: database.id } };
  same(of(await typed.GET("/api/v1/database-connections/{db_connection_id}", { params })).name, "Typed");
  same(of(await typed.GET("/api/v1/me")).role, "admin");
  const session = of(await typed.POST("/api/v1/sessions", { body: { db_connection_id: database.id, also_db_connection_ids: [], metadata: {} } }));
  const path = { session_id: session.id };
  same(of(await typed.GET("/api/v1/sessions/{session_id}", { params: { path } })).status, "idle");
  same(of(await typed.PATCH("/api/v1/sessions/{session_id}", { params: { path }, body: { title: "Talk" } })).version, 1);
  same(of(await typed.GET("/api/v1/sessions/{session_id}/runs", { params: { path } })).items, []);
  same(of(await typed.GET("/api/v1/sessions/{session_id}/messages", { params: { path } })).items, []);
  same(of(await typed.GET("/api/v1/sessions", { params: { query: { db_connection_id: database.id, total: true } } })).total, 1);
  const term = of(await typed.POST("/api/v1/glossary", { body: { db_connection_id: database.id, term: "churn", meaning: "who left" } }));
  same(of(await typed.GET("/api/v1/glossary/{term_id}", { params: { path: { term_id: term.id } } })).term, "churn");
  same(of(await typed.GET("/api/v1/glossary", { params: { query: { db_connection_id: database.id } } })).items.length, 1);
  const board = of(await typed.POST("/api/v1/boards", { body: { title: "Sales", stale_after_hours: 24 } }));
  const params_of_board = { params: { path: { board_id: board.id } } };
  same(of(await typed.GET("/api/v1/boards/{board_id}", params_of_board)).title, "Sales");
  same(of(await typed.PATCH("/api/v1/boards/{board_id}", { ...params_of_board, body: { title: "Takings" } })).version, 1);
  same(of(await typed.GET("/api/v1/webhooks")).items, []);
  same(of(await typed.GET("/api/v1/usage")).runs.used < 9, true);
  same(of(await typed.GET("/api/v1/problems")).items.length > 50, true);
  await typed.DELETE("/api/v1/boards/{board_id}", params_of_board);
  const unknown = await typed.GET("/api/v1/boards/{board_id}", params_of_board);
  const problem: components["schemas"]["ProblemBody"] | undefined = unknown.error;
  return [board.title, problem?.type];
}

async function call() {
  console.log(JSON.stringify({ made: await callMade(), typed: await callTyped() }));
}

void call();
