/** A question entered before its session was made: the session's page sends it as soon as it opens. */
import * as api from "../api/client";
import { rememberConnection } from "../connections/connections";
import { go } from "../shared/route";

const questions = new Map<string, string>();

/** Makes a session on a database and opens it with a first question. Raises what the API calls raise. */
export async function openSession(connectionId: string, question: string): Promise<void> {
  const session = await api.createSession(connectionId);
  rememberConnection(connectionId);
  questions.set(session.id, question);
  go(`/sessions/${session.id}`);
}

/** Returns the question that a session was opened with, and removes it. */
export function takeQuestion(sessionId: string): string | undefined {
  const question = questions.get(sessionId);
  questions.delete(sessionId);
  return question;
}
