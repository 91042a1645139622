import { useState } from "preact/hooks";
import type { Row } from "../../api/types";
import { copy } from "../../shared/copy";
import { orSay } from "../../shared/or_say";
import { texts } from "../../shared/texts";
import { asTable, at, moved, type Place, type Selection } from "./selection";

interface Cells {
  selection: Selection | null;
  select: (place: Place, extend: boolean) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

/** The selected cells of a grid: moved and extended by arrow keys, copied by Ctrl-C, all taken by Ctrl-A. */
export function useSelection(
  last: Place,
  /** The cells of a row in the order shown. */
  rowAt: (row: number) => Row | undefined,
  onMove: (place: Place) => void,
): Cells {
  const [selection, setSelection] = useState<Selection | null>(null);
  const select = (place: Place, extend: boolean) =>
    setSelection(extend && selection ? { anchor: selection.anchor, focus: place } : at(place));
  const command = (key: string): boolean => {
    if (key === "a") setSelection({ anchor: { row: 0, column: 0 }, focus: last });
    else if (key === "c" && selection) take(selection, rowAt);
    else return false;
    return true;
  };
  const go = (key: string, extend: boolean): boolean => {
    const next = moved(selection?.focus ?? { row: 0, column: 0 }, key, last);
    if (next === null) return false;
    select(next, extend);
    onMove(next);
    return true;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const done = event.ctrlKey || event.metaKey ? command(event.key) : go(event.key, event.shiftKey);
    if (done) event.preventDefault();
  };
  return { selection, select, onKeyDown };
}

function take(selection: Selection, rowAt: (row: number) => Row | undefined): void {
  const { text, cells } = asTable(selection, rowAt);
  orSay(copy(text, texts.rows.copied(cells)));
}
