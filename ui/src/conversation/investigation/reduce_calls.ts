/** The steps of an investigation: from the events of its run, or as they are stored. Both give the same. */
import type { ConfirmationBody, InvestigationStepBody, RunEvent } from "../../api/types";
import type { Answer, Confirmation, Head, InvestigationStep, ToolCall } from "../model";

type Of<Kind extends RunEvent["event"]> = Extract<RunEvent, { event: Kind }>;

/** Adds a call to its step. The first call of a step takes what the model has said before it. */
export function called(answer: Answer, event: Of<"tool_call">): Answer {
  const { tool_call_id: id, step: number, name, arguments: given } = event;
  const begun = { status: "running", content: "", resultId: null, head: null } as const;
  const rest = { isEdited: false, elapsedMs: null, progress: null, confirmation: null };
  const call: ToolCall = { id, name, arguments: given, ...begun, ...rest };
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
  if (event.tool_call_id === null) return { ...answer, progress: { message, fraction } };
  return withCall(answer, event.tool_call_id, (call) => ({ ...call, progress: { message, fraction } }));
}

/** Gives a call the first rows that it has fetched. */
export function fetched(answer: Answer, id: string, head: Head): Answer {
  return withCall(answer, id, (call) => ({ ...call, head }));
}

export function returned(answer: Answer, event: Of<"tool_result">): Answer {
  const { status, content, result_id: resultId, elapsed_ms: elapsedMs } = event;
  return withCall(answer, event.tool_call_id, (call) => ({
    ...call,
    ...{ status, content, resultId, elapsedMs, progress: null },
  }));
}

export function mustBeConfirmed(answer: Answer, event: Of<"confirmation">): Answer {
  const confirmation = confirmationOf(event);
  return withCall(answer, event.confirmation_id, (call) => ({ ...call, status: "waiting", confirmation }));
}

/** Gives a call that waits its decision; the result of an approved one is yet to come. `edited` are the
 * arguments that were approved in place of its own. */
export function withDecision(
  answer: Answer,
  id: string,
  decision: Of<"confirmation_decided">["decision"],
  edited: Record<string, unknown> | null,
): Answer {
  return withCall(answer, id, (call) => ({
    ...call,
    ...(call.status === "waiting" && { status: decision }),
    ...(edited && { arguments: edited, isEdited: true }),
  }));
}

function withCall(answer: Answer, id: string, how: (call: ToolCall) => ToolCall): Answer {
  const investigation = (answer.investigation ?? []).map((step) => ({
    ...step,
    calls: step.calls.map((call) => (call.id === id ? how(call) : call)),
  }));
  return { ...answer, investigation };
}

/**
 * The stored steps that made calls: the others are the answer, or replies that KAI could not use. `waiting`
 * are the confirmations that can be decided.
 */
export function stepsOf(
  items: InvestigationStepBody[],
  waiting: ConfirmationBody[] = [],
): InvestigationStep[] {
  const confirmations = new Map(waiting.map((each) => [each.confirmation_id, confirmationOf(each)]));
  return items
    .filter((each) => each.tool_calls.length > 0)
    .map(({ step, text, tool_calls }) => ({
      number: step,
      text,
      calls: tool_calls.map((each) => callOf(each, confirmations.get(each.id) ?? null)),
    }));
}

/** The calls that wait, as one step: where KAI does not investigate, it tells no steps. */
export function stepOfWaiting(waiting: ConfirmationBody[]): InvestigationStep {
  const none = { isEdited: false, content: "", resultId: null, head: null, elapsedMs: null, progress: null };
  const calls = waiting.map((each): ToolCall => {
    const { confirmation_id: id, tool_name: name, arguments: given } = each;
    return { id, name, arguments: given, status: "waiting", confirmation: confirmationOf(each), ...none };
  });
  return { number: 1, text: "", calls };
}

function callOf(
  stored: InvestigationStepBody["tool_calls"][number],
  confirmation: Confirmation | null,
): ToolCall {
  const { id, name, arguments: given, edited_arguments: edited, content } = stored;
  const status: ToolCall["status"] =
    stored.status === "proposed" || stored.status === "begun" ? "running" : stored.status;
  const resultId = stored.row_count === null ? null : id;
  const isOpen = status === "running" || status === "waiting" || status === "approved";
  const elapsedMs = isOpen ? null : stored.elapsed_ms;
  const rest = { status, content, resultId, head: null, elapsedMs, progress: null, confirmation };
  return { id, name, arguments: edited ?? given, isEdited: Boolean(edited), ...rest };
}

function confirmationOf(source: Of<"confirmation"> | ConfirmationBody): Confirmation {
  const { description, destination, warnings, call_hash: callHash, expires_at } = source;
  return { description, destination, warnings, callHash, expiresAt: Date.parse(expires_at) };
}
