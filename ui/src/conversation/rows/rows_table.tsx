import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { texts } from "../../shared/texts";
import type { AnswerRows } from "./answer_rows";
import { BodyRow, type ShownColumn } from "./body_row";
import { formatOf, isNumeric } from "./format";
import { HeaderRow } from "./header_row";
import { nextSorting, order, type Sorting } from "./sort";
import { useSelection } from "./use_selection";
import { useVirtualRows } from "./use_virtual_rows";
import { firstWidths } from "./widths";
import "./rows.css";

const ROW_HEIGHT = 30;

/** A grid of any length: only visible rows are drawn, and the next rows are fetched during scrolling. */
export function RowsTable({ rows }: { rows: AnswerRows }) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const [widths, setWidths] = useState(() => firstWidths(rows.columns, rows.loaded.value));
  const columns = useShownColumns(rows);
  const virtual = useVirtualRows(scroller, rows.count, ROW_HEIGHT);
  const rowAt = useOrder(rows, sorting);
  useAhead(rows, sorting ? rows.count : (virtual.items.at(-1)?.index ?? 0) + 1);
  const last = { row: rows.count - 1, column: rows.columns.length - 1 };
  const { selection, select, onKeyDown } = useSelection(last, rowAt, virtual.scrollTo);
  const active = selection?.focus;
  return (
    <div
      class="grid"
      role="grid"
      ref={scroller}
      tabIndex={0}
      aria-label={rows.resultId === undefined ? texts.rows.label : texts.rows.ofCall}
      aria-description={texts.rows.hint}
      aria-rowcount={rows.count + 1}
      aria-colcount={rows.columns.length}
      aria-activedescendant={active && `${id}-${active.row}-${active.column}`}
      onKeyDown={onKeyDown}
      style={{
        "--columns": widths.map((width) => `${width}px`).join(" "),
        "--row-height": `${ROW_HEIGHT}px`,
      }}
    >
      <HeaderRow
        columns={rows.columns}
        sorting={sorting}
        widths={widths}
        onSort={(column) => setSorting(nextSorting(sorting, column))}
        onWidth={(column, width) => setWidths(widths.with(column, width))}
      />
      <div role="rowgroup" class="grid-body" style={{ height: `${virtual.height}px` }}>
        {virtual.items.map(({ index, start }) => (
          <BodyRow
            key={index}
            {...{ id, index, columns, selection, select }}
            top={start}
            row={rowAt(index)}
          />
        ))}
      </div>
    </div>
  );
}

/** Formats are made once, from the first rows that are loaded. */
function useShownColumns(rows: AnswerRows): ShownColumn[] {
  const loaded = rows.loaded.value;
  return useMemo(
    () =>
      rows.columns.map((column, index) => ({
        format: formatOf(column, index, loaded),
        numeric: isNumeric(column),
      })),
    [rows, loaded.length > 0],
  );
}

/** The row at a position of the sorted order; undefined while it is being fetched. */
function useOrder(rows: AnswerRows, sorting: Sorting | null) {
  const loaded = rows.loaded.value;
  const positions = useMemo(() => {
    const column = sorting ? rows.columns[sorting.column] : undefined;
    return order(loaded, sorting, column !== undefined && isNumeric(column));
  }, [loaded, sorting]);
  return (row: number) => loaded[positions[row] ?? -1];
}

/** Fetches as many rows as needed, as soon as they are available; sorting needs all rows. */
function useAhead(rows: AnswerRows, wanted: number): void {
  const loaded = rows.loaded.value;
  useEffect(() => {
    void rows.load(wanted);
  }, [rows, wanted, loaded, rows.messageId]);
}
