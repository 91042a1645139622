import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Term } from "../api/types";
import { connectionOf } from "../connections/connections";
import { SqlText } from "../shared/sql_text";
import { moment } from "../shared/time";
import { glossaries, knowGlossary } from "./glossary";
import { mentionsIn } from "./mentions";
import { termTexts as words } from "./texts";
import "./terms.css";

const READ_IN = ".question, .understood, .analysis";
const UNDERLINED = "kai-terms";

interface Shown {
  connectionId: string;
  exchange: RefObject<HTMLElement | null>;
}

interface Place {
  range: Range;
  term: string;
}

/** The card that is open, and where: pixels from the sides of the exchange. */
interface Open {
  term: string;
  /** Below its place in the upper half of the window, else above it: the field covers what is lower. */
  vertical: { top: string } | { bottom: string };
  left: number;
}

/** Underlines the terms of the glossary in a question and its answer; a click on one shows its card. */
export default function Terms({ connectionId, exchange }: Shown) {
  useEffect(() => knowGlossary(connectionId), [connectionId]);
  const glossary = glossaries.value[connectionId] ?? [];
  const places = usePlaces(exchange, glossary);
  const [open, setOpen] = useState<Open | null>(null);
  const show = (term: string, at: DOMRect) => {
    const frame = exchange.current?.getBoundingClientRect();
    if (!frame) return;
    const isHigh = at.bottom < innerHeight / 2;
    const vertical = isHigh
      ? { top: `${at.bottom - frame.top}px` }
      : { bottom: `${frame.bottom - at.top}px` };
    setOpen({ term, vertical, left: at.left - frame.left });
  };
  useEffect(() => {
    const article = exchange.current;
    const onClick = (event: MouseEvent) => {
      const met = places.find(({ range }) => isIn(range, event));
      if (met) show(met.term, met.range.getBoundingClientRect());
    };
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && setOpen(null);
    article?.addEventListener("click", onClick);
    document.addEventListener("keydown", onKey);
    return () => {
      article?.removeEventListener("click", onClick);
      document.removeEventListener("keydown", onKey);
    };
  }, [places]);
  const found = glossary.filter((each) => places.some(({ term }) => term === each.term));
  if (found.length === 0) return null;
  const shown = found.find((each) => each.term === open?.term);
  return (
    <div class="terms">
      <span>{words.title}</span>
      {found.map((each) => (
        <button
          type="button"
          key={each.id}
          aria-expanded={shown === each}
          onClick={(event) =>
            shown === each ? setOpen(null) : show(each.term, event.currentTarget.getBoundingClientRect())
          }
        >
          {each.term}
        </button>
      ))}
      {open && shown && <Card term={shown} at={open} connectionId={connectionId} />}
    </div>
  );
}

function Card({ term, at, connectionId }: { term: Term; at: Open; connectionId: string }) {
  const owner = connectionOf(connectionId)?.owner ?? "";
  return (
    <div
      class="term-card"
      role="status"
      style={{ ...at.vertical, left: `min(${Math.max(0, at.left)}px, max(0px, 100% - 22rem))` }}
    >
      <strong>{term.term}</strong>
      <p>{term.meaning}</p>
      {term.sql && <SqlText sql={term.sql} />}
      <p class="quiet">{words.origin(owner, moment(term.created_at))}</p>
      {term.updated_at !== term.created_at && <p class="quiet">{words.changed(moment(term.updated_at))}</p>}
    </div>
  );
}

/** The places of the terms in the texts of an exchange, underlined; found again when its texts change. */
function usePlaces(exchange: RefObject<HTMLElement | null>, glossary: readonly Term[]): Place[] {
  const [places, setPlaces] = useState<Place[]>([]);
  useEffect(() => {
    const article = exchange.current;
    if (!article || glossary.length === 0) {
      setPlaces([]);
      return undefined;
    }
    const find = () => setPlaces(placesIn(article, glossary));
    find();
    const watching = new MutationObserver((changes) => {
      if (changes.some(({ target }) => isText(target))) find();
    });
    watching.observe(article, { childList: true, characterData: true, subtree: true });
    return () => watching.disconnect();
  }, [glossary]);
  useEffect(() => underline(places.map(({ range }) => range)), [places]);
  return places;
}

function placesIn(article: HTMLElement, glossary: readonly Term[]): Place[] {
  const terms = glossary.map((each) => each.term);
  return [...article.querySelectorAll(READ_IN)].flatMap((part) => {
    const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    const found: Place[] = [];
    while (texts.nextNode()) {
      const node = texts.currentNode as Text;
      for (const { start, end, term } of mentionsIn(node.data, terms)) {
        const range = document.createRange();
        range.setStart(node, start);
        range.setEnd(node, end);
        found.push({ range, term });
      }
    }
    return found;
  });
}

function isText(node: Node): boolean {
  const element = node instanceof Element ? node : node.parentElement;
  return element?.closest(`${READ_IN}, .reading`) != null;
}

/** Underlines without changing the text's elements. A browser that cannot shows the list of terms only. */
function underline(ranges: Range[]): (() => void) | undefined {
  if (!("highlights" in CSS)) return undefined;
  const all = CSS.highlights.get(UNDERLINED) ?? new Highlight();
  CSS.highlights.set(UNDERLINED, all);
  for (const each of ranges) all.add(each);
  return () => {
    for (const each of ranges) all.delete(each);
  };
}

function isIn(range: Range, { clientX, clientY }: MouseEvent): boolean {
  return [...range.getClientRects()].some(
    ({ left, right, top, bottom }) =>
      clientX >= left && clientX <= right && clientY >= top && clientY <= bottom,
  );
}
