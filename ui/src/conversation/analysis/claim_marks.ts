/** The places of claims, written into the Markdown of an analysis as private-use characters.
 *
 * They pass through the parser like letters, so that each place is found again in the
 * markup, whatever the Markdown around it becomes.
 */
import type { Claim } from "../../api/types";

const FIRST_START = 0xe000;
const FIRST_END = 0xe800;
const MARKS = /[\uE000-\uEFFF]/g;
const BLANK = /^\s$/;

/** A mark: where the claim of this index starts or ends. */
export interface Mark {
  index: number;
  starts: boolean;
}

export function markOf(character: string): Mark | null {
  const code = character.charCodeAt(0);
  if (code < FIRST_START || code > 0xefff) return null;
  return code < FIRST_END
    ? { index: code - FIRST_START, starts: true }
    : { index: code - FIRST_END, starts: false };
}

/** The Markdown with marks around each claim whose marks do not change the rest of `render`'s output. */
export function withMarks(
  markdown: string,
  claims: readonly Claim[],
  render: (markdown: string) => string,
): string {
  // Same length in code points: the spans still fit.
  const own = Array.from(markdown.replace(MARKS, "\uFFFD"));
  const wanted = claims.map(({ span }, index) => ({ index, ...trimmed(own, span) }));
  const places = wanted.filter(({ start, end, index }) => start < end && index < FIRST_END - FIRST_START);
  const shown = render(own.join(""));
  const isHarmless = (some: Place[]) => render(inserted(own, some)).replace(MARKS, "") === shown;
  if (isHarmless(places)) return inserted(own, places);
  const kept: Place[] = [];
  for (const place of places) if (isHarmless([...kept, place])) kept.push(place);
  return inserted(own, kept);
}

/** Half-open, in code points; empty if the span is not valid. */
interface Place {
  index: number;
  start: number;
  end: number;
}

/** Without blanks at its ends: a mark between a blank and an asterisk would make the asterisk text. */
function trimmed(own: string[], [from = 0, to = 0]: number[]): Omit<Place, "index"> {
  let [start, end] = [Math.max(0, from), Math.min(to, own.length)];
  while (start < end && BLANK.test(own[start] ?? "")) start += 1;
  while (start < end && BLANK.test(own[end - 1] ?? "")) end -= 1;
  return { start, end };
}

/** Of claims that begin together the longer one begins first, of those that end together it ends last. */
function inserted(own: string[], places: Place[]): string {
  const before = new Map<number, string>();
  const add = (at: number, mark: number) =>
    before.set(at, (before.get(at) ?? "") + String.fromCharCode(mark));
  const byLength = [...places].sort((one, other) => one.end - one.start - (other.end - other.start));
  for (const { end, index } of byLength) add(end, FIRST_END + index);
  for (const { start, index } of byLength.reverse()) add(start, FIRST_START + index);
  return (
    own.map((character, at) => (before.get(at) ?? "") + character).join("") + (before.get(own.length) ?? "")
  );
}
