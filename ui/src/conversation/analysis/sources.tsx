import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Reference } from "../../api/types";
import { texts } from "../../shared/texts";
import type { Head } from "../model";
import { plain } from "../rows/format";
import { opened, rowsOf } from "./opened";
import type { Statement } from "./statements";
import "./sources.css";

const MOST_CELLS = 5;

/** The result that a reference names: its rows at hand, and what shows all of them. */
export interface Origin {
  head: Head | null;
  open: (() => void) | null;
}

/** Finds the result of an id; null is that of the answer. */
export type FindOrigin = (resultId: string | null) => Origin | null;

interface Shown {
  statements: readonly Statement[];
  origin: FindOrigin;
  children: ComponentChildren;
}

/** Shows what a statement was computed from while it is pointed at, focused or tapped; Escape closes it. Arrow
 * keys move between the statements of a paragraph, Enter moves into what is shown. */
export function Sources({ statements, origin, children }: Shown) {
  const root = useRef<HTMLDivElement>(null);
  const card = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<HTMLElement | null>(null);
  const id = useId();
  const statement = place ? statements[Number(place.dataset.statement)] : undefined;
  // All of it before the next key or movement, which may come as soon as statements are drawn.
  useLayoutEffect(() => setPlace(null), [statements]);
  useLayoutEffect(() => {
    if (!place || !card.current || !root.current) return;
    putBeside(place, card.current, root.current);
    place.setAttribute("aria-describedby", id);
    opened.value = rowsOf(statement?.sources ?? [], origin);
    return () => {
      place.removeAttribute("aria-describedby");
      opened.value = null;
    };
  }, [place]);
  useLayoutEffect(() => {
    if (!place) return;
    const onKey = ({ key }: KeyboardEvent) => {
      if (key !== "Escape") return;
      if (card.current?.contains(document.activeElement)) place.focus();
      setPlace(null);
    };
    const onPointer = ({ target }: PointerEvent) => !isPartOf(target, root.current) && setPlace(null);
    document.addEventListener("keydown", onKey);
    document.addEventListener("pointerdown", onPointer);
    return () => {
      document.removeEventListener("keydown", onKey);
      document.removeEventListener("pointerdown", onPointer);
    };
  }, [place]);
  const onLeave = ({ relatedTarget }: MouseEvent | FocusEvent) => {
    if (!isPartOf(relatedTarget, root.current)) setPlace(placeOf(document.activeElement));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = placeOf(event.target);
    if (!at) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    if (step) moveFrom(at, step);
    else if (place !== at) setPlace(at);
    else card.current?.querySelector("button")?.focus();
  };
  const show = ({ target }: Event) => setPlace(placeOf(target) ?? place);
  return (
    <div
      class="sources"
      ref={root}
      onMouseOver={show}
      onMouseOut={onLeave}
      onFocusIn={show}
      onFocusOut={onLeave}
      onClick={show}
      onKeyDown={onKeyDown}
    >
      {children}
      <div
        class="source"
        role="group"
        aria-label={texts.sources.label}
        id={id}
        ref={card}
        hidden={!statement}
      >
        {statement?.sources.map((each) => (
          <Source key={each.key} reference={each} origin={origin(each.result_id)} />
        ))}
      </div>
    </div>
  );
}

function Source({ reference, origin }: { reference: Reference; origin: Origin | null }) {
  const { how, value, cells, cell_count } = reference;
  const shown = cells.slice(0, MOST_CELLS);
  return (
    <>
      <strong>{how}</strong>
      {value !== null && <span class="source-value">{value}</span>}
      <table hidden={shown.length === 0}>
        <tbody>
          {shown.map(({ row, column }) => (
            <tr key={`${row} ${column}`}>
              <th scope="row">{rowName(origin?.head ?? null, row, column)}</th>
              <td>{column}</td>
              <td>{cellOf(origin?.head ?? null, row, column)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {cell_count > shown.length && (
        <span class="quiet">{texts.sources.more(cell_count - shown.length)}</span>
      )}
      {origin?.open && (
        <button type="button" class="link" onClick={origin.open}>
          {texts.sources.open}
        </button>
      )}
    </>
  );
}

/** The number of the row, and what its first column says if that is at hand and another one. */
function rowName(head: Head | null, row: number, column: string): string {
  const isNamed = head !== null && head.columns[0]?.name !== column;
  const name = isNamed ? plain(head.rows[row]?.[0] ?? null) : "";
  return [texts.sources.row(row + 1), name].filter(Boolean).join(" · ");
}

/** The cell as it is stored, if its row is at hand. */
function cellOf(head: Head | null, row: number, column: string): string {
  const at = head?.columns.findIndex((each) => each.name === column) ?? -1;
  return plain(head?.rows[row]?.[at] ?? null);
}

/** The element of the statement that an event belongs to. */
function placeOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>("[data-statement]") : null;
}

/** Whether it is a statement of this text, or what is shown of it: a pointer may move from one to the other. */
function isPartOf(target: EventTarget | null, root: HTMLElement | null): boolean {
  if (!(target instanceof Element) || !root?.contains(target)) return false;
  return target.closest("[data-statement], .source") !== null;
}

/** Moves the focus, and the stop of the Tab key with it, to another statement of the paragraph. */
function moveFrom(place: HTMLElement, step: number): void {
  const all = [...(place.parentElement?.querySelectorAll<HTMLElement>("[data-statement]") ?? [])];
  const next = all[all.indexOf(place) + step];
  if (!next) return;
  place.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** Below the statement's last line, or above its first where the view ends, and never beyond the text's sides. */
function putBeside(place: HTMLElement, card: HTMLElement, root: HTMLElement): void {
  const lines = [...place.getClientRects()];
  const [first, last] = [lines[0], lines.at(-1)];
  if (!first || !last) return;
  const base = root.getBoundingClientRect();
  const fits = last.bottom + card.offsetHeight <= endOfView(root);
  const top = fits ? last.bottom : first.top - card.offsetHeight;
  const left = Math.min((fits ? last : first).left - base.left, base.width - card.offsetWidth);
  card.style.top = `${top - base.top}px`;
  card.style.left = `${Math.max(0, left)}px`;
}

/** Where what holds an element ends: below it may stand the field for the next question. */
function endOfView(element: Element): number {
  const parent = element.parentElement;
  if (parent === null) return window.innerHeight;
  const scrolls = /auto|scroll/.test(getComputedStyle(parent).overflowY);
  return scrolls ? parent.getBoundingClientRect().bottom : endOfView(parent);
}
