/** The glossary of each database that an open session reads, kept as new as other tabs make it. */
import { signal } from "@preact/signals";
import { call, type Page } from "../api/client";
import type { Term } from "../api/types";
import { CHANGED_GLOSSARY } from "./knowledge";

const MOST_PAGES = 10;

/** Terms by the id of their database, the longest first, so that a part of a term is not taken for it. */
export const glossaries = signal<Record<string, Term[]>>({});
const wanted = new Set<string>();

/** Reads a glossary once, and again when a term is changed in any tab, or when this tab is shown again. */
export function knowGlossary(connectionId: string): void {
  if (wanted.has(connectionId)) return;
  wanted.add(connectionId);
  void read(connectionId);
}

new BroadcastChannel(CHANGED_GLOSSARY).onmessage = readAll;
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) readAll();
});

function readAll(): void {
  for (const each of wanted) void read(each);
}

/** Best-effort: without its glossary an answer is whole. */
async function read(connectionId: string): Promise<void> {
  const terms: Term[] = [];
  let cursor: string | null = null;
  try {
    for (let page = 0; page < MOST_PAGES && (page === 0 || cursor); page += 1) {
      const query = new URLSearchParams({ db_connection_id: connectionId, limit: "100" });
      if (cursor) query.set("cursor", cursor);
      const { items, next_cursor }: Page<Term> = await call("GET", `glossary?${query}`);
      terms.push(...items);
      cursor = next_cursor;
    }
  } catch {
    return;
  }
  terms.sort((one, other) => other.term.length - one.term.length);
  glossaries.value = { ...glossaries.value, [connectionId]: terms };
}
