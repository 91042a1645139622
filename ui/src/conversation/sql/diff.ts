/** What a later statement changes, token by token; blanks and the case of words do not count. */
import { type SqlToken, tokensOf } from "../../shared/sql_tokens";

export type Change = "same" | "added" | "removed";
export interface ChangedToken extends SqlToken {
  change: Change;
}

/** Longer statements are shown without their changes. */
const MOST_PAIRS = 4_000_000;

export function changesBetween(before: string, after: string): ChangedToken[] {
  const old = tokensOf(before).filter(({ text }) => text.trim() !== "");
  const all = tokensOf(after);
  const now = all.filter(({ text }) => text.trim() !== "");
  if (old.length * now.length > MOST_PAIRS) return all.map((token) => ({ ...token, change: "same" }));
  const common = lengths(old, now);
  const found: ChangedToken[] = [];
  let at = 0;
  let next = 0;
  for (const token of all) {
    if (token.text.trim() === "") {
      found.push({ ...token, change: "same" });
      continue;
    }
    const same = () => isSame(old[at], token);
    while (at < old.length && !same() && (common[at + 1]?.[next] ?? 0) >= (common[at]?.[next + 1] ?? 0)) {
      found.push({ ...(old[at] as SqlToken), change: "removed" });
      at += 1;
    }
    if (same()) at += 1;
    else {
      found.push({ ...token, change: "added" });
      next += 1;
      continue;
    }
    found.push({ ...token, change: "same" });
    next += 1;
  }
  return [...found, ...old.slice(at).map((token) => ({ ...token, change: "removed" as const }))];
}

/** Lengths of the longest common parts of the ends of both. */
function lengths(old: SqlToken[], now: SqlToken[]): Uint16Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let at = old.length - 1; at >= 0; at -= 1) {
    const [row, below] = [table[at], table[at + 1]];
    if (!row || !below) continue;
    for (let next = now.length - 1; next >= 0; next -= 1) {
      row[next] = isSame(old[at], now[next])
        ? (below[next + 1] ?? 0) + 1
        : Math.max(below[next] ?? 0, row[next + 1] ?? 0);
    }
  }
  return table;
}

function isSame(one: SqlToken | undefined, other: SqlToken | undefined): boolean {
  if (!one || !other || one.kind !== other.kind) return false;
  const isWord = one.kind === "keyword" || (one.kind === "name" && !/^["`]/.test(one.text));
  return isWord ? one.text.toLowerCase() === other.text.toLowerCase() : one.text === other.text;
}
