/** The list of sessions: reads, filters, pins, renames and deletes them; a deletion can be undone. */
import { signal } from "@preact/signals";
import * as api from "../api/client";
import { asProblem } from "../api/problem";
import type { ListedSession, Problem, Session } from "../api/types";
import { go, route } from "../shared/route";
import { texts } from "../shared/texts";
import { say, UNDO_MS } from "../shared/toasts";
import { onNews, tellTabs } from "./tabs";

const POLL_MS = 4_000;
/** A title is written after a question is answered; the model needs a moment for it. */
const TITLED_MS = [2_000, 8_000, 25_000];

/** Pause after the last key before a search is sent: at most four requests a second. */
const TYPED_MS = 250;

export interface Filter {
  words: string;
  connectionId: string;
  status: "" | Session["status"];
}

/** The sessions that the filter lets through, last used first; without words, those that are not pinned. */
export const sessions = signal<ListedSession[] | null>(null);
export const pinned = signal<ListedSession[]>([]);
/** The open session if it is neither loaded nor pinned. */
export const stray = signal<Session | null>(null);
export const filter = signal<Filter>({ words: "", connectionId: "", status: "" });
export const problem = signal<Problem | null>(null);
/** A session that this list has closed or opened, for the page that shows it. */
export const changedHere = signal<{ id: string } | null>(null);
const next = signal<string | null>(null);
/** Sessions deleted on the page, and on the server once the deletion can no longer be undone. */
const leaving = new Map<string, ReturnType<typeof setTimeout>>();
/** Sessions that the server has deleted: a list that was read before may still have them. */
const gone = new Set<string>();
let asked = 0;
let listed = filter.value;
let poll: ReturnType<typeof setTimeout> | undefined;
let typed: ReturnType<typeof setTimeout> | undefined;

const wanted = ({ words, connectionId, status }: Filter): api.WantedSessions => ({
  q: words || undefined,
  db_connection_id: connectionId || undefined,
  status: status || undefined,
});

/** Reads the list again; the response to an older request never replaces a newer one. */
export async function refreshSessions(): Promise<void> {
  asked += 1;
  const turn = asked;
  const now = filter.value;
  clearTimeout(typed);
  try {
    const [page, pins] = await Promise.all([
      api.listSessions({ ...wanted(now), pinned: now.words ? undefined : false }),
      now.words ? null : api.listSessions({ ...wanted(now), pinned: true }, undefined, 100),
    ]);
    if (turn !== asked) return;
    const older = now === listed && !now.words ? olderThan(page) : [];
    sessions.value = [...page.items.filter(isShown), ...older];
    if (older.length === 0) next.value = page.next_cursor;
    pinned.value = pins?.items.filter(isShown) ?? [];
    listed = now;
    problem.value = null;
    pollWhileAnswering();
    await findStray();
  } catch (error) {
    problem.value = asProblem(error);
  }
}

/** The loaded sessions after those of a first page, which stay loaded when it is read again. */
function olderThan(page: api.Page<Session>): ListedSession[] {
  const last = page.items.at(-1);
  if (last === undefined || page.next_cursor === null) return [];
  const read = new Set(page.items.map((each) => each.id));
  return (sessions.value ?? []).filter((each) => !read.has(each.id) && each.updated_at < last.updated_at);
}

/** Shows the open session in the list, also if it is older than all that is loaded. */
export async function findStray(): Promise<void> {
  const here = route.value;
  const id = here.page === "session" ? here.sessionId : null;
  if (id === null || sessions.value === null || filter.value.words || isListed(id)) {
    stray.value = null;
  } else if (stray.value?.id !== id) {
    stray.value = null;
    const found = await api.readSession(id, undefined, 1).catch(() => null);
    const open = route.value;
    if (found && isShown(found) && open.page === "session" && open.sessionId === id && !isListed(id))
      stray.value = found;
  }
}

const isListed = (id: string) => [...(sessions.value ?? []), ...pinned.value].some((each) => each.id === id);

/** Reads the list again when a session whose question was just answered may have a title. */
export function expectTitle(): void {
  for (const milliseconds of TITLED_MS) setTimeout(() => void refreshSessions(), milliseconds);
}

/** The title of a session in the list, which is newer than the title read with its history. */
export function titleOf(session: Session): string | null {
  const known = [...(sessions.value ?? []), ...pinned.value].find((each) => each.id === session.id);
  return known ? known.title : session.title;
}

/** A session without a question has no title and is not listed. */
function isShown(session: Session): boolean {
  return session.title !== null && !leaving.has(session.id) && !gone.has(session.id);
}

export const hasOlder = () => next.value !== null;

let older: Promise<void> | null = null;

/** Loads the next page of the list; a call during another one waits for it. */
export function loadOlder(): Promise<void> {
  older ??= readOlder().finally(() => {
    older = null;
  });
  return older;
}

async function readOlder(): Promise<void> {
  if (next.value === null) return;
  const turn = asked;
  const now = filter.value;
  const page = await api.listSessions({ ...wanted(now), pinned: now.words ? undefined : false }, next.value);
  if (turn !== asked) return;
  const loaded = new Set(sessions.value?.map((each) => each.id));
  const more = page.items.filter((each) => isShown(each) && !loaded.has(each.id));
  sessions.value = [...(sessions.value ?? []), ...more];
  next.value = page.next_cursor;
}

/** Searches when typing pauses. */
export function searchSessions(words: string): void {
  filter.value = { ...filter.value, words };
  clearTimeout(typed);
  typed = setTimeout(() => void refreshSessions(), TYPED_MS);
}

export function filterSessions(change: Partial<Omit<Filter, "words">>): void {
  filter.value = { ...filter.value, ...change };
  void refreshSessions();
}

export async function pin(session: Session): Promise<void> {
  try {
    await api.pinSession(session.id, session.pinned_at === null);
    tellTabs(session.id);
  } catch (error) {
    say(asProblem(error).detail);
  }
  await refreshSessions();
}

/** Renames a session as it was shown. If another edit came first, the reader chooses. Returns false if the new
 * title is not saved and shall not be lost. */
export async function rename({ id, version }: Session, title: string): Promise<boolean> {
  const send = (version: number) => api.renameSession(id, title, version);
  const read = () => api.readSession(id, undefined, 1);
  try {
    const { saveEdit } = await import("../shared/edits");
    await saveEdit({
      version,
      send,
      read,
      beside: (theirs) => [{ name: texts.sessions.name, mine: title, theirs: theirs.title ?? "" }],
    });
    tellTabs(id);
  } catch (error) {
    say(asProblem(error).detail);
    return false;
  } finally {
    await refreshSessions();
  }
  return true;
}

/** Closes a session, so that it takes no questions, or opens it again. */
export async function close(session: Session): Promise<void> {
  try {
    await (session.status === "closed" ? api.resumeSession(session.id) : api.closeSession(session.id));
    tellTabs(session.id);
    changedHere.value = { id: session.id };
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
  pinned.value = pinned.value.filter((each) => each.id !== session.id);
  const wasOpen = here.page === "session" && here.sessionId === session.id;
  if (wasOpen) go("/");
  say(texts.sessions.deleted(session.title ?? texts.sessions.untitled), () => {
    restore(session.id);
    if (wasOpen) go(`/sessions/${session.id}`);
  });
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
    gone.add(sessionId);
  } catch (error) {
    say(asProblem(error).detail);
  }
  leaving.delete(sessionId);
  tellTabs(sessionId);
}

/** Polls, because no event reports the end of a run in a session that is not open. */
function pollWhileAnswering(): void {
  clearTimeout(poll);
  const shown = [...(sessions.value ?? []), ...pinned.value];
  const answering = shown.some((each) => each.status === "processing");
  if (answering && !document.hidden) poll = setTimeout(() => void refreshSessions(), POLL_MS);
}

window.addEventListener("pagehide", () => {
  for (const sessionId of leaving.keys()) void reallyRemove(sessionId);
});
onNews(() => void refreshSessions());
