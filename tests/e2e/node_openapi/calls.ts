// Calls of clients that were made from the OpenAPI document, checked by `tsc --strict`.
import createClient from "openapi-fetch";
import type { components, paths } from "./typed";
import { client } from "./made/client.gen";
import { createBoard, readBoard } from "./made";

declare const process: { env: Record<string, string> };
const baseUrl = process.env.ADDRESS;

async function call() {
  client.setConfig({ baseUrl });
  const board = await createBoard({ body: { title: "Sales" } });
  if (!board.data) throw new Error("no board");
  const missing = await readBoard({ path: { board_id: "none" } });
  const typed = createClient<paths>({ baseUrl });
  const read = await typed.GET("/api/v1/boards/{board_id}", { params: { path: { board_id: board.data.id } } });
  const unknown = await typed.GET("/api/v1/boards/{board_id}", { params: { path: { board_id: "none" } } });
  const problem: components["schemas"]["ProblemBody"] | undefined = unknown.error;
  console.log(
    JSON.stringify({
      made: [board.data.title, missing.error?.type],
      typed: [read.data?.title, problem?.type],
    }),
  );
}

void call();
