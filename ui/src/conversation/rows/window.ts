/** Which rows and columns of a scrolling grid are in sight. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

const MORE_ROWS = 3;
const FIRST_SIGHT = { top: 0, left: 0, width: 1_000, height: 400 };

/** Half-open. */
export interface Range {
  from: number;
  to: number;
}

interface Sight {
  top: number;
  left: number;
  width: number;
  height: number;
}

/** What a scroller shows, rendered again only when other rows or columns come into sight. */
export function useSight<Seen>(
  scroller: RefObject<HTMLElement | null>,
  see: (sight: Sight) => Seen,
  isSame: (one: Seen, other: Seen) => boolean,
): Seen {
  const [sight, setSight] = useState<Sight>(FIRST_SIGHT);
  const latest = useRef(see);
  latest.current = see;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = () => {
      const { scrollTop: top, scrollLeft: left, clientWidth: width, clientHeight: height } = element;
      const now = { top, left, width, height };
      setSight((before) => (isSame(latest.current(before), latest.current(now)) ? before : now));
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  return see(sight);
}

export function rowsInSight(count: number, rowHeight: number, top: number, height: number): Range {
  const from = Math.max(0, Math.floor(top / rowHeight) - MORE_ROWS);
  const to = Math.min(count, Math.ceil((top + height) / rowHeight) + MORE_ROWS);
  return { from: Math.min(from, to), to };
}

/** The columns behind the frozen ones that are in sight, and the pixels before the first of them. */
export function columnsInSight(
  widths: number[],
  frozen: number,
  left: number,
  width: number,
): Range & { skipped: number } {
  const room = width - sum(widths.slice(0, frozen));
  let from = frozen;
  let skipped = 0;
  while (from < widths.length && skipped + (widths[from] ?? 0) <= left) {
    skipped += widths[from] ?? 0;
    from += 1;
  }
  let to = from;
  for (let end = skipped; to < widths.length && end < left + room; to += 1) end += widths[to] ?? 0;
  return { from, to, skipped };
}

/** Where a grid scrolls to show a cell; null for a direction in which it is in sight. */
export function scrolledTo(
  { start, size }: { start: number; size: number },
  at: number,
  room: number,
): number | null {
  if (start < at) return start;
  return start + size > at + room ? start + size - room : null;
}

export const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
