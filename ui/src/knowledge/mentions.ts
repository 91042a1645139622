/** Where the terms of a glossary are said in a text. */

/** A place in a text: the offsets of its first letter and after its last, and the term as it is defined. */
export interface Mention {
  start: number;
  end: number;
  term: string;
}

/** Whole words only, in any case; a longer term wins over a shorter one in the same place. */
export function mentionsIn(text: string, terms: readonly string[]): Mention[] {
  const named = new Map(terms.map((term) => [folded(term), term]));
  named.delete("");
  if (named.size === 0) return [];
  const words = [...named.keys()].sort((one, other) => other.length - one.length).map(pattern);
  const sought = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${words.join("|")})(?![\\p{L}\\p{N}_])`, "giu");
  return [...text.matchAll(sought)].flatMap((match) => {
    const term = named.get(folded(match[0]));
    return term === undefined ? [] : [{ start: match.index, end: match.index + match[0].length, term }];
  });
}

const folded = (text: string) => text.trim().replace(/\s+/g, " ").toLowerCase();

const pattern = (term: string) =>
  term
    .split(" ")
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))
    .join("\\s+");
