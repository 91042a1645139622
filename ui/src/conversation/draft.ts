/** A question that the page proposes: its words, and the thing that it is about. */
import { signal } from "@preact/signals";
import type { About } from "../api/client";

export interface Draft {
  words: string;
  about: About;
  /** The thing in words, shown beside the question. */
  label: string;
  /** Where it is asked: in a session, or in a new one on a database. */
  place: { sessionId: string } | { connectionId: string };
}

/** The latest proposal, until it is asked or put away. */
export const draft = signal<Draft | null>(null);

/** The proposal for this session, if any. */
export function draftOf(sessionId: string): Draft | null {
  const found = draft.value;
  return found !== null && "sessionId" in found.place && found.place.sessionId === sessionId ? found : null;
}

/** The proposal for a new session, and its database. */
export function draftOfStart(): (Draft & { connectionId: string }) | null {
  const found = draft.value;
  if (found === null || !("connectionId" in found.place)) return null;
  return { ...found, connectionId: found.place.connectionId };
}
