import { expect, test } from "vitest";
import type { InvestigationStepBody, RunEvent } from "../../api/types";
import { type Answer, NOTHING, waitsForDecision } from "../model";
import { reduce } from "../reduce";
import { stepsOf } from "./reduce_calls";

type Said = Record<string, unknown> & { event: string };

const answerTo = (...said: Said[]): Answer =>
  said.map((each, index) => ({ id: index + 1, ...each }) as unknown as RunEvent).reduce(reduce, NOTHING);

const investigating = { event: "status", step: "investigating", message: "", run_id: "r1", at: "2026-01-01" };
const usingTool = { ...investigating, step: "using_tool" };
const thought = (content: string) => ({ event: "chunk", type: "text", channel: "investigation", content });
const call = (tool_call_id: string, step: number, given: object = {}) => ({
  ...{ event: "tool_call", tool_call_id, step, name: "run_sql", category: "read", arguments: given },
  requires_approval: false,
});
const progress = (tool_call_id: string, fraction: number) => ({
  ...{ event: "progress", tool_call_id, message: "Counting", fraction },
});
const result = (tool_call_id: string, more: object = {}) => ({
  ...{ event: "tool_result", tool_call_id, status: "done", content: "two rows", is_error: false },
  ...{ result_id: tool_call_id, elapsed_ms: 12, ...more },
});
const confirmation = {
  ...{ event: "confirmation", confirmation_id: "c3", tool_name: "describe_table_as", arguments: {} },
  ...{ description: "Replace it.", destination: "database shop", warnings: [], call_hash: "ff" },
  expires_at: "2026-01-01T00:30:00Z",
};
const decision = (which: string) => ({
  ...{ event: "confirmation_decided", confirmation_id: "c3", decision: which },
});

const SAID: Said[] = [
  investigating,
  thought("First "),
  thought("the years."),
  call("c1", 1, { sql: "SELECT 1" }),
  call("c2", 1),
  usingTool,
  result("c2", { status: "failed", content: "no such table", is_error: true, result_id: null }),
  result("c1"),
  investigating,
  call("c3", 2),
];

test("what the model says goes to the step of the calls that follow", () => {
  const { investigation, thought: left } = answerTo(...SAID);
  expect(investigation?.map((each) => [each.number, each.text, each.calls.map(({ id }) => id)])).toEqual([
    [1, "First the years.", ["c1", "c2"]],
    [2, "", ["c3"]],
  ]);
  expect(left).toBe("");
});

test("what is said before the end of an investigation is no step", () => {
  const writing = answerTo(...SAID, investigating, thought("So"));
  expect([writing.thought, writing.investigation?.length]).toEqual(["So", 2]);
  expect(answerTo(...SAID, investigating, thought("So"), usingTool).thought).toBe("");
});

test("a result ends the call that it names, and its progress", () => {
  const running = answerTo(...SAID, progress("c3", 0.5)).investigation?.[1]?.calls[0];
  expect(running).toMatchObject({ status: "running", progress: { message: "Counting", fraction: 0.5 } });
  const ended = answerTo(...SAID, progress("c3", 0.5), result("c3")).investigation?.[1]?.calls[0];
  expect(ended).toMatchObject({ status: "done", resultId: "c3", elapsedMs: 12, progress: null });
});

test("rows of a call are its own, not those of the answer", () => {
  const rows = { columns: [{ name: "n", type: "integer" }], rows: [[1]], row_count: 1, truncated: false };
  const sql = { event: "chunk", type: "sql", content: "SELECT 1", tool_call_id: "c3" };
  const answer = answerTo(...SAID, sql, {
    event: "chunk",
    type: "results",
    content: rows,
    tool_call_id: "c3",
  });
  expect(answer.investigation?.[1]?.calls[0]?.head).toMatchObject({ rows: [[1]], rowCount: 1 });
  expect([answer.sql, answer.head]).toEqual(["", null]);
});

test("progress without a call is that of the answer", () => {
  const whole = { event: "progress", tool_call_id: null, message: "2 of 4 tables", fraction: 0.5 };
  expect(answerTo(...SAID, whole).progress).toEqual({ message: "2 of 4 tables", fraction: 0.5 });
});

test("a call waits for its confirmation until it is decided, and runs then", () => {
  const asked = answerTo(...SAID, confirmation);
  const waiting = asked.investigation?.[1]?.calls[0];
  const shown = { description: "Replace it.", destination: "database shop", callHash: "ff" };
  expect(waiting).toMatchObject({ status: "waiting", confirmation: shown });
  expect(waiting?.confirmation?.expiresAt).toBe(Date.UTC(2026, 0, 1, 0, 30));
  expect(waitsForDecision(asked)).toBe(true);
  const decided = answerTo(...SAID, confirmation, decision("approved"));
  expect(decided.investigation?.[1]?.calls[0]?.status).toBe("approved");
  expect(waitsForDecision(decided)).toBe(false);
  const ended = answerTo(...SAID, confirmation, decision("approved"), result("c3"), decision("approved"));
  expect(ended.investigation?.[1]?.calls[0]?.status).toBe("done");
  const denied = answerTo(...SAID, confirmation, decision("denied")).investigation?.[1]?.calls[0];
  expect(denied?.status).toBe("denied");
});

test("a call has the arguments that a person has approved in place of its own", () => {
  const edited_arguments = { text: "Mine." };
  const approved = answerTo(...SAID, confirmation, { ...decision("approved"), edited_arguments });
  const [call] = approved.investigation?.[1]?.calls ?? [];
  expect(call).toMatchObject({ status: "approved", arguments: edited_arguments, isEdited: true });
  const tool_calls = [{ id: "c3", name: "run_sql", status: "approved", arguments: {}, edited_arguments }];
  const items = [{ step: 2, kind: "calls", text: "", tool_calls }] as unknown as InvestigationStepBody[];
  expect(stepsOf(items)[0]?.calls[0]).toMatchObject({ arguments: edited_arguments, isEdited: true });
});

test("a reset voids the steps, and what follows builds them again", () => {
  const reset = { event: "reset", reason: "" };
  expect(answerTo(...SAID, reset).investigation).toEqual([]);
  expect(answerTo(...SAID, reset, ...SAID).investigation).toEqual(answerTo(...SAID).investigation);
});

test("stored steps are those of the stream", () => {
  const at = { tokens_used: 1, created_at: "2026-01-01T00:00:00Z", fault: "" };
  const stored = { category: "read", arguments: {}, columns: [], elapsed_ms: 12 };
  const ran = { ...stored, name: "run_sql", status: "done", content: "two rows", is_error: false };
  const items = [
    {
      ...{ step: 1, kind: "calls", text: "First the years.", ...at },
      tool_calls: [
        { ...ran, id: "c1", arguments: { sql: "SELECT 1" }, row_count: 2 },
        { ...ran, id: "c2", status: "failed", content: "no such table", is_error: true, row_count: null },
      ],
    },
    {
      ...{ step: 2, kind: "calls", text: "", ...at },
      tool_calls: [{ ...ran, id: "c3", status: "begun", content: "", row_count: null, elapsed_ms: 0 }],
    },
    { step: 3, kind: "answer", text: "It rose.", ...at, tool_calls: [] },
  ] as InvestigationStepBody[];
  expect(stepsOf(items)).toEqual(answerTo(...SAID).investigation);
});
