import { expect, test } from "vitest";
import type { RunEvent } from "../api/types";
import { type Answer, NOTHING, shownSql } from "./model";
import { reduce } from "./reduce";

type Said = Record<string, unknown> & { event: string };

const answerTo = (...said: Said[]): Answer =>
  said.map((each, index) => ({ id: index + 1, ...each }) as unknown as RunEvent).reduce(reduce, NOTHING);

const status = (step: string, second: number, message = "") => ({
  event: "status",
  step,
  message,
  run_id: "r1",
  at: `2026-01-01T00:00:0${second}Z`,
  failed_sql: null,
  error: null,
  tokens_used: 0,
});
const text = (channel: string, content: string) => ({ event: "chunk", type: "text", channel, content });
const sql = (content: string) => ({
  event: "chunk",
  type: "sql",
  content,
  dialect: "sqlite",
  explanation: "E",
  standalone_question: "Q",
  sql_pretty: content.replace(" ", "\n  "),
  corrections: [],
});
const done = {
  event: "done",
  run_id: "r1",
  message_id: "m1",
  status: "complete",
  tokens_used: 9,
  elapsed_ms: 5000,
  database_ms: 40,
  rows_read: 7,
  bytes_read: 2000,
};

test("the whole statement takes the place of its tokens", () => {
  const writing = answerTo(text("sql", "SEL"), text("sql", "ECT"));
  expect([writing.sql, writing.sqlWhole, shownSql(writing)]).toEqual(["SELECT", false, "SELECT"]);
  const whole = answerTo(text("sql", "SELEC"), sql("SELECT 1"));
  expect([whole.sql, whole.sqlWhole, whole.explanation]).toEqual(["SELECT 1", true, "E"]);
  expect(whole.standalone_question).toBe("Q");
});

test("corrections and layout belong to their statement, and go when it is repaired", () => {
  const corrections = ["Joined `visit`."];
  const corrected = answerTo({ ...sql("SELECT 1"), corrections });
  expect([corrected.corrections, shownSql(corrected)]).toEqual([corrections, "SELECT\n  1"]);
  const repairing = reduce(corrected, { id: 9, ...status("repairing_sql", 1) } as never);
  expect([repairing.corrections, shownSql(repairing)]).toEqual([[], ""]);
  expect(answerTo(sql("SELECT 1")).corrections).toEqual([]);
});

test("references and options are kept as they come, and gone after a reset", () => {
  const references = [
    { key: "n", span: [0, 3], result_id: null, how: "n", value: "2", cells: [], cell_count: 0 },
  ];
  const options = [{ label: "a", question: "Which a?" }];
  const said = [
    { event: "chunk", type: "analysis", content: "two" },
    { event: "chunk", type: "references", content: references },
    { event: "chunk", type: "clarification", content: "Which?", options },
  ];
  expect(answerTo(...said)).toMatchObject({ references, clarification: "Which?", options });
  expect(answerTo(...said, { event: "reset", reason: "" })).toMatchObject({ references: [], options: [] });
});

test("a step ends when the next begins, and nothing follows the last", () => {
  const { steps } = answerTo(status("loading_context", 0), status("generating_sql", 2), done);
  expect(steps.map((each) => (each.endedAt ?? 0) - each.startedAt)).toEqual([2000, 0]);
});

test("a repair keeps the statement that failed and why", () => {
  const repaired = answerTo(
    sql("SELECT nmae"),
    {
      ...status("repairing_sql", 1, "Any words"),
      failed_sql: "SELECT nmae",
      error: "no such column",
    },
    sql("SELECT name"),
  );
  expect(repaired.steps[0]).toMatchObject({ statement: "SELECT nmae", error: "no such column" });
  expect(repaired.sql).toBe("SELECT name");
});

test("a reset voids what was shown and keeps the run", () => {
  const again = answerTo(status("generating_sql", 0), sql("SELECT 1"), { event: "reset", reason: "" });
  expect(again).toEqual({ ...NOTHING, phase: "running", runId: "r1" });
});

test("the end of the run is the end of the answer", () => {
  const { phase, messageId, tokensUsed, elapsedMs, databaseMs, bytesRead } = answerTo(
    status("saving", 0),
    done,
  );
  expect([phase, messageId, tokensUsed, elapsedMs]).toEqual(["complete", "m1", 9, 5000]);
  expect([databaseMs, bytesRead]).toEqual([40, 2000]);
});

test("an error is kept beside what was answered", () => {
  const error = { event: "error", type: "t", title: "Down", status: 503, detail: "d", retryable: true };
  expect(answerTo(text("analysis", "So"), error)).toMatchObject({
    analysis: "So",
    problems: [{ title: "Down" }],
  });
});

test("events and chunks of a newer server change nothing", () => {
  expect(answerTo({ event: "news" }, { event: "chunk", type: "hologram" })).toEqual(NOTHING);
});

test("an answer names the facts that it has used and kept, and why one was refused", () => {
  const fact = (id: string) => ({ id, kind: "terminology", scope: "workspace", text: `Fact ${id}` });
  const memory = (action: string, ids: string[], reason: string | null = null) => ({
    event: "memory",
    action,
    facts: ids.map(fact),
    reason,
  });
  const answer = answerTo(
    memory("used", ["a", "b"]),
    memory("kept", ["c"]),
    memory("kept", ["d"]),
    memory("refused", [], "It holds a password."),
    memory("of a newer server", ["e"]),
  );
  expect(answer).toMatchObject({ remembered: ["a", "b"], used: [fact("a"), fact("b")] });
  expect(answer).toMatchObject({ kept: [fact("c"), fact("d")], refusals: ["It holds a password."] });
});
