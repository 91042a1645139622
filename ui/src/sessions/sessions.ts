/** The list of sessions: reads, searches, renames and deletes them; a deletion can be undone. */
import { signal } from "@preact/signals";
import * as api from "../api/client";
import { asProblem } from "../api/problem";
import type { Problem, Session } from "../api/types";
import { go, route } from "../shared/route";
import { texts } from "../shared/texts";
import { say, UNDO_MS } from "../shared/toasts";
import { onNews, tellTabs } from "./tabs";

const POLL_MS = 4_000;
/** A title is written after a question is answered; the model needs a moment for it. */
const TITLED_MS = [2_000, 8_000];

export const sessions = signal<Session[] | null>(null);
export const search = signal("");
export const problem = signal<Problem | null>(null);
const next = signal<string | null>(null);
/** Sessions deleted on the page, and on the server once the deletion can no longer be undone. */
const leaving = new Map<string, ReturnType<typeof setTimeout>>();
let asked = 0;
let poll: ReturnType<typeof setTimeout> | undefined;

/** Reads the list again; the response to an older request never replaces a newer one. */
export async function refreshSessions(): Promise<void> {
  asked += 1;
  const turn = asked;
  try {
    const page = await api.listSessions(search.value);
    if (turn !== asked) return;
    sessions.value = page.items.filter(isShown);
    next.value = page.next_cursor;
    problem.value = null;
    pollWhileAnswering();
  } catch (error) {
    problem.value = asProblem(error);
  }
}

/** Reads the list again when a session whose question was just answered may have a title. */
export function expectTitle(): void {
  for (const milliseconds of TITLED_MS) setTimeout(() => void refreshSessions(), milliseconds);
}

/** The title of a session in the list, which is newer than the title read with its history. */
export function titleOf(session: Session): string | null {
  const listed = sessions.value?.find((each) => each.id === session.id);
  return listed ? listed.title : session.title;
}

/** A session without a question has no title and is not listed. */
function isShown(session: Session): boolean {
  return session.title !== null && !leaving.has(session.id);
}

export const hasOlder = () => next.value !== null;

export async function loadOlder(): Promise<void> {
  if (next.value === null) return;
  const page = await api.listSessions(search.value, next.value);
  sessions.value = [...(sessions.value ?? []), ...page.items.filter(isShown)];
  next.value = page.next_cursor;
}

export function searchSessions(words: string): void {
  search.value = words;
  void refreshSessions();
}

export async function rename(session: Session, title: string): Promise<void> {
  try {
    await api.renameSession(session.id, title);
    tellTabs(session.id);
  } catch (error) {
    say(asProblem(error).detail);
  }
  await refreshSessions();
}

/** Removes a session from the list; the server deletes it when the undo expires or the page is left. */
export function remove(session: Session): void {
  const here = route.value;
  leaving.set(
    session.id,
    setTimeout(() => void reallyRemove(session.id), UNDO_MS),
  );
  sessions.value = (sessions.value ?? []).filter((each) => each.id !== session.id);
  if (here.page === "session" && here.sessionId === session.id) go("/");
  say(texts.sessions.deleted(session.title ?? texts.sessions.untitled), () => restore(session.id));
}

function restore(sessionId: string): void {
  clearTimeout(leaving.get(sessionId));
  leaving.delete(sessionId);
  void refreshSessions();
}

async function reallyRemove(sessionId: string): Promise<void> {
  clearTimeout(leaving.get(sessionId));
  try {
    await api.deleteSession(sessionId);
  } catch (error) {
    say(asProblem(error).detail);
  }
  leaving.delete(sessionId);
  tellTabs(sessionId);
}

/** Polls, because no event reports the end of a run in a session that is not open. */
function pollWhileAnswering(): void {
  clearTimeout(poll);
  const answering = sessions.value?.some((each) => each.status === "processing");
  if (answering && !document.hidden) poll = setTimeout(() => void refreshSessions(), POLL_MS);
}

window.addEventListener("pagehide", () => {
  for (const sessionId of leaving.keys()) void reallyRemove(sessionId);
});
onNews(() => void refreshSessions());
