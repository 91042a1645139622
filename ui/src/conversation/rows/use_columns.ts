import { useState } from "preact/hooks";
import type { Column } from "../../api/types";

/** The columns in the order shown, by their index in the rows: the frozen ones first. */
export interface ShownColumns {
  shown: number[];
  frozen: number;
  hidden: number;
  isFrozen: (column: number) => boolean;
  hide: (column: number) => void;
  showAll: () => void;
  freeze: (column: number) => void;
}

export function useColumns(columns: Column[]): ShownColumns {
  const [hidden, setHidden] = useState<number[]>([]);
  const [frozen, setFrozen] = useState<number[]>([]);
  const isFrozen = (column: number) => frozen.includes(column);
  const isShown = (column: number) => !hidden.includes(column);
  const others = columns.map((_, column) => column).filter((column) => !isFrozen(column));
  const first = frozen.filter(isShown);
  return {
    shown: [...first, ...others.filter(isShown)],
    frozen: first.length,
    hidden: hidden.length,
    isFrozen,
    hide: (column) => setHidden([...hidden, column]),
    showAll: () => setHidden([]),
    freeze: (column) =>
      setFrozen(isFrozen(column) ? frozen.filter((each) => each !== column) : [...frozen, column]),
  };
}
