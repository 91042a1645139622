/** Patterns of the schemas that a database is read by: `sales_*`, `!raw`. The server has the last word. */

export const patternsOf = (text: string) =>
  text
    .split(/[\n,]/)
    .map((each) => each.trim())
    .filter(Boolean);

/** Whether the patterns take a schema: all are taken where none includes, but for those after `!`. */
export function isRead(name: string, patterns: readonly string[]): boolean {
  const included = patterns.filter((each) => !each.startsWith("!"));
  const excluded = patterns.filter((each) => each.startsWith("!")).map((each) => each.slice(1));
  return (
    (included.length === 0 || included.some((each) => fits(name, each))) &&
    !excluded.some((each) => fits(name, each))
  );
}

/** The patterns once a schema is read, or is no longer. One schema at least has to stay. */
export function choose(name: string, read: boolean, patterns: readonly string[]): string[] {
  const own = name.replace(/[*?[]/g, "[$&]");
  const names = [own.toLowerCase(), `!${own.toLowerCase()}`];
  const others = patterns.filter((each) => !names.includes(each.toLowerCase()));
  return isRead(name, others) === read ? others : [...others, read ? own : `!${own}`];
}

function fits(name: string, pattern: string): boolean {
  const source = pattern
    .toLowerCase()
    .replace(/\[(!?)([^\]]+)\]|[^]/gu, (sign: string, not: string | undefined, among: string | undefined) => {
      if (among) return `[${not ? "^" : ""}${rangesOf(among)}]`;
      return sign === "*" ? ".*" : sign === "?" ? "." : sign.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
    });
  return new RegExp(`^${source}$`, "su").test(name.toLowerCase());
}

/** The signs and ranges of a class. A range that ends before it begins holds nothing, as for the server. */
function rangesOf(among: string): string {
  const escape = (sign: string) => sign.replace(/[\\^[-]/, "\\$&");
  return among.replace(/(.)-(.)|[^]/gsu, (sign: string, first?: string, last?: string) => {
    if (first === undefined || last === undefined) return escape(sign);
    const isRange = Number(first.codePointAt(0)) <= Number(last.codePointAt(0));
    return isRange ? `${escape(first)}-${escape(last)}` : "";
  });
}
