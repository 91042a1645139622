/** Follows a run across lost connections and reloads: every event once and in order. */
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { ApiError } from "./problem";
import type { RunEvent } from "./types";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;

/** How to open a run's stream, and the callbacks for its events. */
export interface Following {
  /** Opens the stream from its start; may also start the run. */
  open: () => Promise<Response>;
  /** Opens the stream after an event. */
  resume: (runId: string, after: number) => Promise<Response>;
  onEvent: (event: RunEvent) => void;
  onLink: (link: "live" | "reconnecting") => void;
  signal: AbortSignal;
}

/**
 * Ends after `done`, or when the signal is aborted. A stream that ends without `done` was cut off and is
 * resumed after its last event, without a limit of attempts. Raises what `open` raises, and `ApiError`
 * when the run is gone.
 */
export async function follow(following: Following): Promise<void> {
  const { onLink, signal } = following;
  let response: Response | null = await following.open();
  const runId = response.headers.get("X-Run-Id") ?? "";
  let wait = FIRST_WAIT_MS;
  let after = 0;
  while (!signal.aborted) {
    if (response !== null) {
      onLink("live");
      const read = await drain(response, after, following);
      if (read.done || signal.aborted) return;
      if (read.after > after) wait = FIRST_WAIT_MS;
      after = read.after;
    }
    onLink("reconnecting");
    await pause(wait, signal);
    wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    response = await attempt(() => following.resume(runId, after));
  }
}

/** Reads events until the stream ends or fails. Returns whether `done` was among them, and the last id. */
async function drain(
  response: Response,
  after: number,
  following: Following,
): Promise<{ done: boolean; after: number }> {
  let last = after;
  let done = false;
  const onEvent = (message: EventSourceMessage) => {
    const id = Number(message.id);
    if (id <= last) return;
    last = id;
    done ||= message.event === "done";
    following.onEvent({ ...JSON.parse(message.data), event: message.event, id } as RunEvent);
  };
  const parser = createParser({ onEvent });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = () => reader?.read().catch(() => null); // a failed read ends the stream, too
  for (let read = await next(); read && !read.done; read = await next()) parser.feed(read.value);
  return { done, after: last };
}

/** The response, or null if the server is unavailable. */
async function attempt(open: () => Promise<Response>): Promise<Response | null> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof ApiError && error.problem.status < 500) throw error;
    return null;
  }
}

/** Waits, but no longer than until the network is available again. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const ended = new AbortController();
    const end = () => {
      clearTimeout(timer);
      ended.abort();
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    window.addEventListener("online", end, { signal: ended.signal });
    signal.addEventListener("abort", end, { signal: ended.signal });
  });
}
