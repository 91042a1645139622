import type { Cell, Row } from "../../api/types";
import { texts } from "../../shared/texts";
import { type Format, plain } from "./format";
import type { PlacedColumn } from "./placed";
import { holds, type Place, type Selection } from "./selection";

interface Shown {
  id: string;
  index: number;
  /** Pixels from the top of the body. */
  top: number;
  /** Unknown while it is being fetched. */
  row: Row | undefined;
  /** Whether an open source names it. */
  lit: boolean;
  columns: PlacedColumn[];
  selection: Selection | null;
  /** The column of the match that the reader has come to. */
  match: number | null;
  select: (place: Place, extend: boolean) => void;
  open: () => void;
}

export function BodyRow({ id, index, top, row, lit, columns, selection, match, select, open }: Shown) {
  const onDown = (event: PointerEvent, column: number) => select({ row: index, column }, event.shiftKey);
  const onEnter = (event: PointerEvent, column: number) => {
    if (event.buttons === 1) select({ row: index, column }, true);
  };
  return (
    <div
      role="row"
      class={lit ? "grid-row lit" : "grid-row"}
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${top}px)` }}
      onDblClick={open}
    >
      {columns.map(({ at, index: column, format, numeric, style, frozen }) => (
        <div
          key={column}
          role="gridcell"
          id={`${id}-${index}-${at}`}
          class={`cell${numeric ? " numeric" : ""}${frozen ? " frozen" : ""}${match === at ? " match" : ""}`}
          style={style}
          aria-colindex={at + 1}
          aria-selected={selection !== null && holds(selection, { row: index, column: at })}
          title={plain(row?.[column] ?? null)}
          onPointerDown={(event) => onDown(event, at)}
          onPointerEnter={(event) => onEnter(event, at)}
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
