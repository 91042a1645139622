/** The steps of an investigation: from the events of its run, or as they are stored. Both give the same. */
import type { InvestigationStepBody, RunEvent } from "../../api/types";
import type { Answer, InvestigationStep, ToolCall } from "../model";

type Of<Kind extends RunEvent["event"]> = Extract<RunEvent, { event: Kind }>;

/** Adds a call to its step. The first call of a step takes what the model has said before it. */
export function called(answer: Answer, event: Of<"tool_call">): Answer {
  const { tool_call_id: id, step: number, name, arguments: given } = event;
  const begun = { status: "running", content: "", resultId: null, elapsedMs: null, progress: null } as const;
  const call: ToolCall = { id, name, arguments: given, ...begun };
  const steps = answer.investigation ?? [];
  if (steps.some((each) => each.number === number)) {
    const add = (step: InvestigationStep) =>
      step.number === number ? { ...step, calls: [...step.calls, call] } : step;
    return { ...answer, investigation: steps.map(add) };
  }
  const step = { number, text: answer.thought, calls: [call] };
  return { ...answer, investigation: [...steps, step], thought: "" };
}

export function progressed(answer: Answer, event: Of<"progress">): Answer {
  const { message, fraction } = event;
  return withCall(answer, event.tool_call_id, (call) => ({ ...call, progress: { message, fraction } }));
}

export function returned(answer: Answer, event: Of<"tool_result">): Answer {
  const { status, content, result_id: resultId, elapsed_ms: elapsedMs } = event;
  return withCall(answer, event.tool_call_id, (call) => ({
    ...call,
    ...{ status, content, resultId, elapsedMs, progress: null },
  }));
}

function withCall(answer: Answer, id: string, how: (call: ToolCall) => ToolCall): Answer {
  const investigation = (answer.investigation ?? []).map((step) => ({
    ...step,
    calls: step.calls.map((call) => (call.id === id ? how(call) : call)),
  }));
  return { ...answer, investigation };
}

/** The stored steps that made calls: the others are the answer, or replies that KAI could not use. */
export function stepsOf(items: InvestigationStepBody[]): InvestigationStep[] {
  return items
    .filter((each) => each.tool_calls.length > 0)
    .map(({ step, text, tool_calls }) => ({ number: step, text, calls: tool_calls.map(callOf) }));
}

function callOf(stored: InvestigationStepBody["tool_calls"][number]): ToolCall {
  const { id, name, arguments: given, content } = stored;
  const status = stored.status === "done" || stored.status === "failed" ? stored.status : "running";
  const resultId = stored.row_count === null ? null : id;
  const elapsedMs = status === "running" ? null : stored.elapsed_ms;
  return { id, name, arguments: given, status, content, resultId, elapsedMs, progress: null };
}
