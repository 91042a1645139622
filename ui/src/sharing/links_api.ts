/** The routes of links. Every function raises what `call` raises. */
import { call, type Page } from "../api/client";
import type { LinkKind, RowsPage, Session, Shared, SharedLink } from "../api/types";

const idOf = encodeURIComponent;
const after = (cursor: string | undefined) => (cursor === undefined ? "" : `&cursor=${idOf(cursor)}`);

/** The address under which readers open a link. */
export const addressOf = (linkId: string) => `${location.origin}/shared/${linkId}`;

/** `preview`: whether who has its address, also unknown, reads title, headline and picture. */
export function makeLink(
  kind: LinkKind,
  target_id: string,
  terms: { days: number; preview: boolean },
): Promise<SharedLink> {
  return call("POST", "links", { kind, target_id, ...terms });
}

/** A page of the reader's own links, newest first. */
export function listLinks(cursor?: string): Promise<Page<SharedLink>> {
  return call("GET", `links?limit=50${after(cursor)}`);
}

export const revokeLink = (linkId: string) => call("DELETE", `links/${idOf(linkId)}`);

/** What a link shows; of a session a page of its messages, the latest first. */
export function openLink(linkId: string, cursor?: string): Promise<Shared> {
  return call("GET", `shared/${idOf(linkId)}?limit=40${after(cursor)}`);
}

export function readSharedRows(
  linkId: string,
  messageId: string,
  limit: number,
  cursor?: string,
): Promise<RowsPage> {
  const path = `shared/${idOf(linkId)}/messages/${idOf(messageId)}/rows`;
  return call("GET", `${path}?limit=${limit}${after(cursor)}`);
}

/** A session of the reader with copies of what the link shows. */
export const continueLink = (linkId: string) => call<Session>("POST", `shared/${idOf(linkId)}/continue`);
