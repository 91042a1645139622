import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Row } from "../../api/types";
import type { AnswerRows } from "./answer_rows";
import { placesOf } from "./find";
import type { Format } from "./format";
import type { Place } from "./selection";
import type { Sorting } from "./sort";

interface Searched {
  rows: AnswerRows;
  rowAt: (row: number) => Row | undefined;
  columns: { index: number; format: Format }[];
  sorting: Sorting | null;
  onMatch: (place: Place) => void;
}

/** The search in a grid; `sought` is null while its field is closed. */
export function useFind({ rows, rowAt, columns, sorting, onMatch }: Searched) {
  const [sought, setSought] = useState<string | null>(null);
  const [current, setCurrent] = useState(0);
  const loaded = rows.loaded.value;
  const shown = columns.map(({ index }) => index).join();
  const places = useMemo(
    () => placesOf(sought ?? "", loaded.length, rowAt, columns),
    [sought, loaded, sorting, shown],
  );
  const at = places.length > 0 ? current % places.length : 0;
  const shownFor = useRef<string | null>(null);
  // The first match may be in rows that are still being fetched when the text is written.
  useLayoutEffect(() => {
    const first = places[0];
    if (!first || shownFor.current === sought) return;
    shownFor.current = sought;
    onMatch(first);
  }, [places]);
  return {
    sought,
    found: places.length,
    current: at,
    place: places[at],
    open: () => setSought(sought ?? ""),
    close: () => {
      setSought(null);
      shownFor.current = null;
    },
    seek: (text: string) => {
      setSought(text);
      setCurrent(0);
    },
    step: (by: number) => {
      const next = (at + by + places.length) % Math.max(1, places.length);
      setCurrent(next);
      const place = places[next];
      if (place) onMatch(place);
    },
  };
}
