import { expect, test } from "vitest";
import type { ConfirmationBody, InvestigationStepBody, Message, RunEvent } from "../api/types";
import { exchangesOf } from "./history";
import { stepsOf } from "./investigation/reduce_calls";
import { type Answer, NOTHING } from "./model";
import { reduce } from "./reduce";

/** Recorded by `make streams`. */
interface Recorded {
  /** The events of the run, and of one that went on after an approval. */
  runs: RunEvent[][];
  messages: Message[];
  steps: InvestigationStepBody[];
  waiting: ConfirmationBody[];
}

const streams = import.meta.glob<Recorded>("./golden_streams/*.json", { eager: true, import: "default" });

test.each(Object.entries(streams))("the stream of %s gives what its history gives", (_, recorded) => {
  expect(shared(streamed(recorded))).toEqual(shared(kept(recorded)));
});

test("all kinds of answers are recorded", () => {
  expect(Object.keys(streams).length).toBeGreaterThanOrEqual(12);
  const phases = new Set(Object.values(streams).map((each) => kept(each).phase));
  expect(phases).toEqual(new Set(["complete", "failed", "cancelled", "awaiting_approval"]));
});

function streamed({ runs, messages }: Recorded): Answer {
  const versions = messages.at(-1)?.versions ?? []; // made by the page after the stream, and kept by it
  const start: Answer = { ...NOTHING, phase: "running" };
  return { ...runs.flat().reduce(reduce, start), versions };
}

function kept({ messages, steps, waiting }: Recorded): Answer {
  const [exchange] = exchangesOf(messages);
  if (exchange === undefined) throw new Error("there is no answer");
  const { answer } = exchange;
  return { ...answer, investigation: answer.investigation ?? stepsOf(steps, waiting) };
}

/**
 * An answer without what only the stream has: the texts of its facts, the rows after the first, which are
 * fetched, and the cards of calls that were decided.
 */
function shared({ head, investigation, ...answer }: Answer): Answer {
  return {
    ...answer,
    used: [],
    head: head && { ...head, rows: head.rows.slice(0, 1) },
    investigation:
      investigation?.map((step) => ({
        ...step,
        calls: step.calls.map((call) => ({
          ...call,
          head: null,
          confirmation: call.status === "waiting" ? call.confirmation : null,
        })),
      })) ?? null,
  };
}
