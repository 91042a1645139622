/** A question asked before its session was made: the session's page asks it as soon as it is open. */
import * as api from "../api/client";
import { rememberConnection } from "../connections/connections";
import { go } from "../shared/route";

const questions = new Map<string, string>();

/** Makes a session on a database and opens it with a first question. Raises like the API. */
export async function openSession(connectionId: string, question: string): Promise<void> {
  const session = await api.createSession(connectionId);
  rememberConnection(connectionId);
  questions.set(session.id, question);
  go(`/sessions/${session.id}`);
}

/** The question a session was opened with, once. */
export function takeQuestion(sessionId: string): string | undefined {
  const question = questions.get(sessionId);
  questions.delete(sessionId);
  return question;
}
