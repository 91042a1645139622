/** Numbers of unresolved comments on answers, read once for each session that is opened. */
import { signal } from "@preact/signals";
import type { CountsBody } from "../api/schema";
import { call } from "../api/client";

export const counts = signal<ReadonlyMap<string, number>>(new Map());

let counted: string | null = null;

/** Counts the comments of a session. After a failure they are counted when the next answer is shown. */
export function knowCounts(sessionId: string): void {
  if (counted === sessionId) return;
  counted = sessionId;
  call<CountsBody>("GET", `comments/counts?session_id=${encodeURIComponent(sessionId)}`).then(
    (found) => void (counts.value = new Map(Object.entries(found.counts))),
    () => void (counted = null),
  );
}

export function keepCount(thingId: string, count: number): void {
  counts.value = new Map([...counts.value, [thingId, count]]);
}
