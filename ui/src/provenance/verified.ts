/** Which statements are the SQL of verified examples: asked for together, and kept while the page is open. */
import { type Signal, signal } from "@preact/signals";
import { call } from "../api/client";
import type { ExampleMatch } from "../api/types";
import { orSay } from "../shared/or_say";

const MOST_AT_ONCE = 100;
const MOST_CHARACTERS = 65_536;
const TOGETHER_MS = 30;

const known = new Map<string, Map<string, Signal<ExampleMatch | null>>>();
const waiting = new Map<string, Set<string>>();

/** The verified example of a statement; null if there is none, and until that is known. */
export function matchOf(connectionId: string, sql: string): Signal<ExampleMatch | null> {
  const statements = known.get(connectionId) ?? new Map<string, Signal<ExampleMatch | null>>();
  known.set(connectionId, statements);
  const found = statements.get(sql) ?? signal(null);
  if (!statements.has(sql)) {
    statements.set(sql, found);
    want(connectionId, sql);
  }
  return found;
}

/** Asks again for all statements of a connection, after one of its examples was verified. */
export function askAgain(connectionId: string): void {
  for (const sql of known.get(connectionId)?.keys() ?? []) want(connectionId, sql);
}

function want(connectionId: string, sql: string): void {
  if (waiting.size === 0) setTimeout(() => orSay(askAll()), TOGETHER_MS);
  waiting.set(connectionId, (waiting.get(connectionId) ?? new Set()).add(sql));
}

async function askAll(): Promise<void> {
  const wanted = [...waiting];
  waiting.clear();
  for (const [connectionId, statements] of wanted) {
    let some: string[] = [];
    let size = 0;
    for (const sql of statements) {
      if (some.length === MOST_AT_ONCE || size + sql.length > MOST_CHARACTERS) {
        if (some.length > 0) await ask(connectionId, some);
        some = [];
        size = 0;
      }
      some.push(sql);
      size += sql.length;
    }
    await ask(connectionId, some);
  }
}

async function ask(db_connection_id: string, statements: string[]): Promise<void> {
  const body = { db_connection_id, statements };
  const { items } = await call<{ items: ExampleMatch[] }>("POST", "examples/matches", body);
  for (const [index, sql] of statements.entries()) {
    const found = known.get(db_connection_id)?.get(sql);
    if (found) found.value = items.find((each) => each.index === index) ?? null;
  }
}
