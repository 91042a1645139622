/** A question entered before its session was made: the session's page sends it as soon as it opens. */
import * as api from "../api/client";
import { rememberConnection } from "../connections/connections";
import { go } from "../shared/route";

interface Opening {
  question: string;
  sql?: string;
  about?: api.About;
}

const openings = new Map<string, Opening>();

/**
 * Makes a session on a database and opens it with a first question; its answers are for a board, if one is named.
 * Raises what the API calls raise.
 */
export async function openSession(
  connectionId: string,
  question: string,
  { about, boardId }: { about?: api.About | undefined; boardId?: string | undefined } = {},
): Promise<void> {
  const session = await api.createSession(connectionId, boardId ? { pins_to_board: boardId } : {});
  rememberConnection(connectionId);
  openWith(session.id, { question, ...(about && { about }) });
}

/** Opens a session that there is with its next question. */
export function openWith(sessionId: string, opening: Opening): void {
  openings.set(sessionId, opening);
  go(`/sessions/${sessionId}`);
}

/** Returns the question that a session was opened with, and removes it. */
export function takeOpening(sessionId: string): Opening | undefined {
  const opening = openings.get(sessionId);
  openings.delete(sessionId);
  return opening;
}
