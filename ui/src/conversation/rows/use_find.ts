import { useMemo, useState } from "preact/hooks";
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
  return {
    sought,
    found: places.length,
    current: at,
    place: places[at],
    open: () => setSought(sought ?? ""),
    close: () => setSought(null),
    seek: (text: string) => {
      setSought(text);
      setCurrent(0);
      const first = placesOf(text, loaded.length, rowAt, columns)[0];
      if (first) onMatch(first);
    },
    step: (by: number) => {
      const next = (at + by + places.length) % Math.max(1, places.length);
      setCurrent(next);
      const place = places[next];
      if (place) onMatch(place);
    },
  };
}
