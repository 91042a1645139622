import { expect, test } from "vitest";
import type { Message } from "../api/types";
import { exchangesOf, withHistory } from "./history";
import { type Exchange, NOTHING } from "./model";

const message = (role: "human" | "assistant", run_id: string, more: Partial<Message> = {}): Message => ({
  id: `${role} ${run_id}`,
  version: 0,
  run_id,
  role,
  query: `Question of ${run_id}`,
  status: "complete",
  route: "sql",
  sql: null,
  dialect: "",
  explanation: "",
  standalone_question: "",
  sql_pretty: "",
  corrections: [],
  columns: [],
  row_count: null,
  truncated: false,
  cut_by: null,
  results_summary: null,
  analysis: null,
  chart: null,
  chart_choice: null,
  chosen_chart: null,
  chart_refusal: null,
  versions: [],
  given_sql: null,
  timeline: [],
  feedback: null,
  headline: null,
  references: [],
  left_out: [],
  suggestions: [],
  remembered: [],
  context: null,
  findings: [],
  code: [],
  link: [],
  action: [],
  steps: 0,
  tool_calls: 0,
  limit_reached: false,
  clarification: null,
  options: [],
  error: null,
  tokens_used: 0,
  elapsed_ms: 10,
  database_ms: 3,
  rows_read: null,
  bytes_read: null,
  client_message_id: null,
  source_message_id: null,
  rows_head: [],
  timestamp: "2026-01-01T00:00:00Z",
  ...more,
});

test("a question and its answer are one exchange", () => {
  const [exchange] = exchangesOf([message("human", "r1"), message("assistant", "r1", { analysis: "Two." })]);
  expect(exchange?.question).toBe("Question of r1");
  expect(exchange?.answer).toMatchObject({ phase: "complete", analysis: "Two.", messageId: "assistant r1" });
});

test("references and options of the history are those of the stream", () => {
  const references: Message["references"] = [
    { key: "n", span: [0, 3], result_id: null, how: "n", value: "2", cells: [], cell_count: 0 },
  ];
  const options = [{ label: "a", question: "Which a?" }];
  const [exchange] = exchangesOf([
    message("human", "r1"),
    message("assistant", "r1", { references, options, clarification: "Which?" }),
  ]);
  expect(exchange?.answer).toMatchObject({ references, options });
});

test("a question without an answer is still being answered", () => {
  const [exchange] = exchangesOf([message("human", "r2")]);
  expect(exchange).toMatchObject({ kept: false, answer: { phase: "sending", runId: "r2" } });
});

test("an answer that another run went on with belongs to the question before it", () => {
  const found = exchangesOf([message("human", "r1"), message("assistant", "r2"), message("human", "r3")]);
  expect(found.map((each) => [each.key, each.answer.runId, each.kept])).toEqual([
    ["r1", "r2", true],
    ["r3", "r3", false],
  ]);
});

test("an answer whose question stands on the page before is shown all the same", () => {
  const found = exchangesOf([message("assistant", "r1"), message("human", "r2"), message("assistant", "r2")]);
  expect(found.map((each) => each.question)).toEqual(["Question of r1", "Question of r2"]);
});

test("the first rows are there, the others are fetched later", () => {
  const columns = [{ name: "n", type: "integer" }];
  const [exchange] = exchangesOf([message("assistant", "r1", { row_count: 3, columns, rows_head: [[1]] })]);
  expect(exchange?.answer.head).toEqual({ columns, rows: [[1]], rowCount: 3, cutBy: null });
});

test("an exchange is known by its question's message too, and by the facts of its answer", () => {
  const answer = message("assistant", "r1", { remembered: ["f1"] });
  const [exchange, rest] = exchangesOf([message("human", "r1"), answer, message("assistant", "r2")]);
  expect(exchange).toMatchObject({ questionId: "human r1", answer: { remembered: ["f1"], used: [] } });
  expect(rest?.questionId).toBeUndefined();
});

test("the steps of an investigation are read later, its findings are there", () => {
  const finding = { text: "Two.", reading: null, references: [] };
  const findings = [finding] as Message["findings"];
  const [kept] = exchangesOf([message("assistant", "r1", { steps: 2, tool_calls: 1, findings })]);
  expect(kept?.answer).toMatchObject({ investigation: null, findings });
  const [plain] = exchangesOf([message("assistant", "r1")]);
  expect(plain?.answer.investigation).toEqual([]);
});

test("a question that was asked before the history was read stands below it, and earlier ones above", () => {
  const stored = (...runs: string[]) =>
    exchangesOf(runs.flatMap((run) => [message("human", run), message("assistant", run)]));
  const live = (runId: string | null): Exchange => ({
    key: `live ${runId}`,
    question: "And now?",
    askedAt: 0,
    answer: { ...NOTHING, runId, phase: "running" },
    kept: false,
  });
  const keys = (shown: Exchange[], history: Exchange[]) =>
    withHistory(shown, history).map((each) => each.key);
  expect(keys([live("r9")], stored("r1", "r2"))).toEqual(["r1", "r2", "live r9"]);
  expect(keys([live(null)], stored("r1"))).toEqual(["r1", "live null"]);
  expect(keys([...stored("r1", "r2"), live("r9")], stored("r2"))).toEqual(["r1", "r2", "live r9"]);
  expect(keys([live("r1"), live("r2")], stored("r2", "r3"))).toEqual(["live r1", "live r2", "r3"]);
  expect(keys(stored("r1"), stored("r2"))).toEqual(["r1", "r2"]);
});
