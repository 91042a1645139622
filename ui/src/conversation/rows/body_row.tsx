import type { Cell, Row } from "../../api/types";
import { texts } from "../../shared/texts";
import { type Format, plain } from "./format";
import { holds, type Place, type Selection } from "./selection";

/** How a column shows its cells. */
export interface ShownColumn {
  format: Format;
  numeric: boolean;
}

interface Shown {
  id: string;
  index: number;
  /** Pixels from the top of the body. */
  top: number;
  /** Unknown while it is being fetched. */
  row: Row | undefined;
  columns: ShownColumn[];
  selection: Selection | null;
  select: (place: Place, extend: boolean) => void;
}

export function BodyRow({ id, index, top, row, columns, selection, select }: Shown) {
  const onDown = (event: PointerEvent, column: number) => select({ row: index, column }, event.shiftKey);
  const onEnter = (event: PointerEvent, column: number) => {
    if (event.buttons === 1) select({ row: index, column }, true);
  };
  return (
    <div role="row" class="grid-row" aria-rowindex={index + 2} style={{ transform: `translateY(${top}px)` }}>
      {columns.map(({ format, numeric }, column) => (
        <div
          key={column}
          role="gridcell"
          id={`${id}-${index}-${column}`}
          class={numeric ? "cell numeric" : "cell"}
          aria-selected={selection !== null && holds(selection, { row: index, column })}
          title={plain(row?.[column] ?? null)}
          onPointerDown={(event) => onDown(event, column)}
          onPointerEnter={(event) => onEnter(event, column)}
        >
          {row === undefined ? "…" : shown(row[column] ?? null, format)}
        </div>
      ))}
    </div>
  );
}

function shown(cell: Cell, format: Format) {
  return cell === null ? <em>{texts.rows.nothing}</em> : format(cell);
}
