/** New sessions that go on from an exchange of another one. */
import * as api from "../api/client";
import { ApiError } from "../api/problem";
import type { Checkpoint, Session } from "../api/types";
import { refreshSessions } from "../sessions/sessions";
import { go } from "../shared/route";
import { texts } from "../shared/texts";
import type { Exchange } from "./model";
import { openSession, openWith } from "./opening";

/** Opens a session that goes on after an answer. Raises what the API calls raise. */
export async function forkAfter(sessionId: string, messageId: string): Promise<void> {
  const { after } = await statesAround(sessionId, messageId);
  if (after === null) throw tooOld();
  const forked = await api.forkSession(sessionId, after);
  void refreshSessions();
  go(`/sessions/${forked.id}`);
}

/** Asks a question in place of another, with what came before it. Raises what the API calls raise. */
export async function askInstead(
  session: Session,
  { key, answer }: Exchange,
  question: string,
): Promise<void> {
  const [first] = (await api.listQuestions(session.id)).items;
  const isFirst = first?.run_id === key || first?.run_id === answer.runId;
  if (isFirst && session.db_connection_id !== null) {
    await openSession(session.db_connection_id, question);
    return;
  }
  const { before } = await statesAround(session.id, answer.messageId ?? "");
  if (before === null) throw tooOld();
  const forked = await api.forkSession(session.id, before);
  openWith(forked.id, { question });
}

/** The checkpoints at the end of an answer and at the end of the one before it. Null if they are gone. */
async function statesAround(
  sessionId: string,
  messageId: string,
): Promise<{ after: string | null; before: string | null }> {
  let after: string | null = null;
  let passed = false;
  let cursor: string | undefined;
  do {
    const page = await api.listCheckpoints(sessionId, cursor);
    for (const each of page.items) {
      if (each.message_id === messageId) {
        passed = true;
        if (isEnd(each)) after ??= each.id;
      } else if (passed && isEnd(each)) return { after, before: each.id };
    }
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return { after, before: null };
}

const tooOld = () =>
  new ApiError({
    type: "about:blank",
    title: texts.problems.unexpected,
    status: 0,
    detail: texts.sessions.tooOldToFork,
  });

const isEnd = (state: Checkpoint) => state.next_steps.length === 0;
