/** The routes of comments. Every function raises what `call` raises. */
import { call, type Page } from "../api/client";
import type { Comment } from "../api/types";

/** What is commented. `linkId` is the link that shows a thing of another person. */
export interface Thing {
  kind: "answer" | "board";
  thingId: string;
  linkId?: string;
}

const idOf = encodeURIComponent;

function queryOf({ kind, thingId, linkId }: Thing): string {
  return `kind=${kind}&target_id=${idOf(thingId)}${linkId === undefined ? "" : `&link_id=${idOf(linkId)}`}`;
}

const bodyOf = ({ linkId }: Thing) => (linkId === undefined ? {} : { link_id: linkId });

/** All comments, oldest first. The browser asks with the tag of the last answer. */
export async function listComments(thing: Thing): Promise<Comment[]> {
  const all: Comment[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const after = cursor === "" ? "" : `&cursor=${idOf(cursor)}`;
    const page: Page<Comment> = await call("GET", `comments?${queryOf(thing)}${after}`);
    all.push(...page.items);
    cursor = page.next_cursor;
  }
  return all;
}

/** The people who take part, without the reader. */
export const listPeople = async (thing: Thing) =>
  (await call<{ items: string[] }>("GET", `comments/people?${queryOf(thing)}`)).items;

export function addComment(thing: Thing, text: string): Promise<Comment> {
  return call("POST", "comments", { kind: thing.kind, target_id: thing.thingId, ...bodyOf(thing), text });
}

/** Changes a comment, with a version only that one. */
export function changeComment(
  thing: Thing,
  id: string,
  change: { text: string } | { resolved: boolean },
  version?: number,
): Promise<Comment> {
  return call("PATCH", `comments/${idOf(id)}`, { ...change, ...bodyOf(thing) }, version);
}

export const deleteComment = (id: string) => call("DELETE", `comments/${idOf(id)}`);
