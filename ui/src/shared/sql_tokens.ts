/** SQL cut into the parts that are shown in different colours. */

export type Kind = "keyword" | "string" | "number" | "comment" | "name" | "other";

export interface SqlToken {
  kind: Kind;
  text: string;
}

// Only words that the supported databases do not allow as plain names, and the common functions of none.
const KEYWORDS = new Set(
  (
    "all and any as asc between by case cast cross current_date current_timestamp desc distinct else end " +
    "escape except exists false fetch filter first following for from full group having ilike in inner " +
    "intersect interval is join last lateral left like limit natural not null nulls offset on or order " +
    "outer over partition preceding qualify range recursive right rows select set similar some then " +
    "true unbounded union unnest using values when where window with within"
  ).split(" "),
);
const PARTS =
  /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*(?:'|$)|\$\$[\s\S]*?(?:\$\$|$))|("(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|[\p{L}_][\p{L}\p{N}_$]*)|(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(\s+|<=|>=|<>|!=|::|\|\||[\s\S])/gu;

/** The tokens in their order; their texts together are the statement. */
export function tokensOf(sql: string): SqlToken[] {
  return Array.from(sql.matchAll(PARTS), ([text, comment, string, name, number]) => {
    if (comment !== undefined) return { kind: "comment", text };
    if (string !== undefined) return { kind: "string", text };
    if (number !== undefined) return { kind: "number", text };
    if (name === undefined) return { kind: "other", text };
    return { kind: KEYWORDS.has(text.toLowerCase()) ? "keyword" : "name", text };
  });
}
