import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { Row } from "../../api/types";
import { copy } from "../../shared/copy";
import { texts } from "../../shared/texts";
import type { AnswerRows } from "./answer_rows";
import { type Format, formatOf, isNumeric, plain } from "./format";
import { HeaderRow } from "./header_row";
import { asTable, at, holds, moved, type Place, type Selection } from "./selection";
import { nextSorting, order, type Sorting } from "./sort";
import { useVirtualRows } from "./use_virtual_rows";
import { firstWidths } from "./widths";
import "./rows.css";

const ROW_HEIGHT = 30;

/** A grid of any length: only the rows in sight are drawn, and what lies ahead is fetched on the way. */
export function RowsTable({ rows }: { rows: AnswerRows }) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const [selection, setSelection] = useState<Selection | null>(null);
  const [widths, setWidths] = useState(() => firstWidths(rows.columns, rows.loaded.value));
  const loaded = rows.loaded.value;
  const formats = useMemo(
    () => rows.columns.map((column, index) => formatOf(column, index, loaded)),
    [rows, loaded.length > 0],
  );
  const positions = useMemo(() => {
    const column = sorting ? rows.columns[sorting.column] : undefined;
    return order(loaded, sorting, column !== undefined && isNumeric(column));
  }, [loaded, sorting]);
  const virtual = useVirtualRows(scroller, rows.count, ROW_HEIGHT);
  const ahead = (virtual.items.at(-1)?.index ?? 0) + 1;
  useEffect(() => {
    void rows.load(sorting ? rows.count : ahead);
  }, [rows, ahead, sorting, loaded, rows.messageId]);
  const rowAt = (row: number): Row | undefined => loaded[positions[row] ?? -1];
  const last: Place = { row: rows.count - 1, column: rows.columns.length - 1 };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const isCommand = event.ctrlKey || event.metaKey;
    const next = moved(selection?.focus ?? { row: 0, column: 0 }, event.key, last);
    if (isCommand && event.key === "c" && selection) {
      const { text, cells } = asTable(selection, rowAt);
      void copy(text, texts.rows.copied(cells));
    } else if (isCommand && event.key === "a") {
      setSelection({ anchor: { row: 0, column: 0 }, focus: last });
    } else if (next && !isCommand) {
      setSelection(event.shiftKey && selection ? { anchor: selection.anchor, focus: next } : at(next));
      virtual.scrollTo(next.row);
    } else return;
    event.preventDefault();
  };
  const template = widths.map((width) => `${width}px`).join(" ");
  const focus = selection?.focus;
  return (
    <div
      class="grid"
      role="grid"
      ref={scroller}
      tabIndex={0}
      aria-label={texts.rows.label}
      aria-description={texts.rows.hint}
      aria-rowcount={rows.count + 1}
      aria-colcount={rows.columns.length}
      aria-activedescendant={focus && `${id}-${focus.row}-${focus.column}`}
      onKeyDown={onKeyDown}
      style={{ "--columns": template, "--row-height": `${ROW_HEIGHT}px` }}
    >
      <HeaderRow
        columns={rows.columns}
        sorting={sorting}
        widths={widths}
        onSort={(column) => setSorting(nextSorting(sorting, column))}
        onWidth={(column, width) => setWidths(widths.map((each, index) => (index === column ? width : each)))}
      />
      <div role="rowgroup" class="grid-body" style={{ height: `${virtual.height}px` }}>
        {virtual.items.map((item) => (
          <BodyRow
            key={item.index}
            id={id}
            index={item.index}
            top={item.start}
            row={rowAt(item.index)}
            formats={formats}
            numeric={rows.columns.map(isNumeric)}
            selection={selection}
            select={setSelection}
          />
        ))}
      </div>
    </div>
  );
}

interface ShownRow {
  id: string;
  index: number;
  top: number;
  row: Row | undefined;
  formats: Format[];
  numeric: boolean[];
  selection: Selection | null;
  select: (selection: Selection) => void;
}

function BodyRow({ id, index, top, row, formats, numeric, selection, select }: ShownRow) {
  const onPointer = (event: PointerEvent, column: number) => {
    const place = { row: index, column };
    const extends_ = event.type === "pointerenter" || event.shiftKey;
    if (event.type === "pointerenter" && event.buttons !== 1) return;
    select(extends_ && selection ? { anchor: selection.anchor, focus: place } : at(place));
  };
  return (
    <div role="row" class="grid-row" aria-rowindex={index + 2} style={{ transform: `translateY(${top}px)` }}>
      {formats.map((format, column) => {
        const cell = row?.[column] ?? null;
        const selected = selection !== null && holds(selection, { row: index, column });
        return (
          <div
            key={column}
            role="gridcell"
            id={`${id}-${index}-${column}`}
            class={numeric[column] ? "cell numeric" : "cell"}
            aria-selected={selected}
            title={plain(cell)}
            onPointerDown={(event) => onPointer(event, column)}
            onPointerEnter={(event) => onPointer(event, column)}
          >
            {row === undefined ? "…" : cell === null ? <em>{texts.rows.nothing}</em> : format(cell)}
          </div>
        );
      })}
    </div>
  );
}
