import { type ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Row } from "../../api/types";
import { copy } from "../../shared/copy";
import { orSay } from "../../shared/or_say";
import { texts } from "../../shared/texts";
import { opened } from "../analysis/opened";
import type { AnswerRows } from "./answer_rows";
import { BodyRow } from "./body_row";
import { ColumnMenu } from "./column_menu";
import { FindBar } from "./find_bar";
import { type Format, formatOf, isNumeric, plain } from "./format";
import { HeaderRow } from "./header_row";
import { rowHeight } from "./height";
import { placed } from "./placed";
import { RowDetail } from "./row_detail";
import { asTable, type Place } from "./selection";
import { nextSorting, order, type Sorting } from "./sort";
import { TableTools } from "./table_tools";
import { tableTexts } from "./table_texts";
import { TotalsRow } from "./totals_row";
import { useColumns } from "./use_columns";
import { useFind } from "./use_find";
import { useSelection } from "./use_selection";
import { firstWidths } from "./widths";
import { columnsInSight, rowsInSight, scrolledTo, sum, useSight } from "./window";
import "./rows.css";

interface OpenMenu {
  column: number;
  button: HTMLElement;
}

const NO_ROWS: ReadonlySet<number> = new Set();

/** A grid of any size: only visible cells are drawn, and the next rows are fetched during scrolling. */
export function RowsTable({ rows, children }: { rows: AnswerRows; children?: ComponentChildren }) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const [widths, setWidths] = useState(() => firstWidths(rows.columns, rows.loaded.value));
  useLayoutEffect(() => {
    setWidths(firstWidths(rows.columns, rows.loaded.value, scroller.current?.clientWidth));
  }, []);
  const [menu, setMenu] = useState<OpenMenu | null>(null);
  const [totals, setTotals] = useState(false);
  const [detailed, setDetailed] = useState(false);
  const formats = useFormats(rows);
  const columns = useColumns(rows.columns);
  const { rowAt, indexAt, placeOf } = useOrder(rows, sorting);
  const wide = columns.shown.map((column) => widths[column] ?? 0);
  const seen = useSight(
    scroller,
    ({ top, left, width, height }) => ({
      rows: rowsInSight(rows.count, rowHeight(), top, height),
      columns: columnsInSight(wide, columns.frozen, left, width),
    }),
    (one, other) => JSON.stringify(one) === JSON.stringify(other),
  );
  const show = (place: Place) => reveal(scroller.current, place, wide, columns.frozen);
  const last = { row: rows.count - 1, column: columns.shown.length - 1 };
  const cellsAt = (row: number) => {
    const found = rowAt(row);
    return found && columns.shown.map((column) => found[column] ?? null);
  };
  const { selection, select, onKeyDown } = useSelection(last, cellsAt, show);
  const find = useFind({
    rows,
    rowAt,
    columns: columns.shown.map((index) => ({ index, format: formats[index] ?? plain })),
    sorting,
    onMatch: (place) => {
      select(place, false);
      show(place);
    },
  });
  const isWhole = sorting !== null || totals || menu !== null || find.sought !== null;
  useAhead(rows, isWhole ? rows.count : seen.rows.to);
  const source = opened.value?.head.columns === rows.columns ? opened.value : null;
  useLayoutEffect(() => {
    const [row, column] = source?.first ?? [];
    if (row !== undefined && column !== undefined)
      show({ row: placeOf(row), column: Math.max(0, columns.shown.indexOf(column)) });
  }, [source]);
  const lit = source?.rows ?? NO_ROWS;
  const inSight = placed(
    { columns: rows.columns, formats, shown: columns.shown, widths: wide, frozen: columns.frozen },
    seen.columns,
  );
  const active = selection?.focus;
  const detail = detailed && active ? rowAt(active.row) : undefined;
  const backToGrid = () => scroller.current?.focus();
  const onKey = (event: KeyboardEvent) => {
    const isFind = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f";
    if (isFind) find.open();
    else if (event.target !== scroller.current) return;
    else if (event.key === "Enter" && active) setDetailed(!detailed);
    else if (event.key === "Escape" && detailed) setDetailed(false);
    else {
      onKeyDown(event);
      return;
    }
    event.preventDefault();
  };
  const take = async () => {
    const all = { anchor: { row: 0, column: 0 }, focus: last };
    if (!selection) await rows.load(rows.count);
    const chosen = selection ?? all;
    const names = columns.shown.map((column) => rows.columns[column]?.name ?? "");
    const { text, cells } = asTable(chosen, cellsAt, names);
    await copy(text, texts.rows.copied(cells));
  };
  const menuFormat = menu && formats[menu.column];
  return (
    <>
      <TableTools
        rows={rows}
        hidden={columns.hidden}
        totals={totals}
        onShowAll={columns.showAll}
        onFind={find.open}
        onTotals={() => setTotals(!totals)}
        onCopy={() => orSay(take())}
      >
        {children}
      </TableTools>
      {find.sought !== null && (
        <FindBar
          sought={find.sought}
          found={find.found}
          current={find.current}
          onSeek={find.seek}
          onStep={find.step}
          onClose={() => {
            find.close();
            backToGrid();
          }}
        />
      )}
      <div class="grid-and-detail">
        <div
          class="grid"
          role="grid"
          ref={scroller}
          tabIndex={0}
          aria-label={rows.resultId === undefined ? texts.rows.label : texts.rows.ofCall}
          aria-description={tableTexts.hint}
          aria-rowcount={rows.count + 1 + Number(totals)}
          aria-colcount={columns.shown.length}
          aria-activedescendant={active && `${id}-${active.row}-${active.column}`}
          onKeyDown={onKey}
          style={{ "--width": `${sum(wide)}px`, "--row-height": `${rowHeight()}px` }}
        >
          <HeaderRow
            columns={inSight}
            sorting={sorting}
            widthOf={(column) => widths[column] ?? 0}
            onSort={(column) => setSorting(nextSorting(sorting, column))}
            onWidth={(column, width) => setWidths(widths.with(column, width))}
            onMenu={(column, button) => setMenu({ column, button })}
          />
          <div role="rowgroup" class="grid-body" style={{ height: `${rows.count * rowHeight()}px` }}>
            {range(seen.rows.from, seen.rows.to).map((index) => (
              <BodyRow
                key={index}
                {...{ id, index, selection, select }}
                columns={inSight}
                top={index * rowHeight()}
                row={rowAt(index)}
                lit={lit.has(indexAt(index))}
                match={find.place?.row === index ? find.place.column : null}
                open={() => setDetailed(true)}
              />
            ))}
          </div>
          {totals && rows.complete && (
            <TotalsRow rows={rows.loaded.value} columns={inSight} number={rows.count + 2} />
          )}
        </div>
        {detail && active && (
          <RowDetail
            number={active.row + 1}
            row={detail}
            columns={rows.columns}
            formats={formats}
            onClose={() => {
              setDetailed(false);
              backToGrid();
            }}
          />
        )}
      </div>
      {menu && menuFormat && (
        <ColumnMenu
          rows={rows}
          column={menu.column}
          button={menu.button}
          format={menuFormat}
          sorting={sorting}
          frozen={columns.isFrozen(menu.column)}
          onSort={setSorting}
          onHide={() => columns.hide(menu.column)}
          onFreeze={() => columns.freeze(menu.column)}
          onClose={() => setMenu(null)}
        />
      )}
    </>
  );
}

/** Formats are made once, from the first rows that are loaded. */
function useFormats(rows: AnswerRows): Format[] {
  const loaded = rows.loaded.value;
  return useMemo(
    () => rows.columns.map((column, index) => formatOf(column, index, loaded)),
    [rows, loaded.length > 0],
  );
}

/** The row, and its index in the result, at a place of the sorted order; and the place of an index. A row is
 * undefined while it is being fetched. */
function useOrder(rows: AnswerRows, sorting: Sorting | null) {
  const loaded = rows.loaded.value;
  const positions = useMemo(() => {
    const column = sorting ? rows.columns[sorting.column] : undefined;
    return order(loaded, sorting, column !== undefined && isNumeric(column));
  }, [loaded, sorting]);
  const indexAt = (place: number) => positions[place] ?? place;
  return {
    indexAt,
    rowAt: (place: number): Row | undefined => loaded[indexAt(place)],
    placeOf: (index: number) => Math.max(0, sorting ? positions.indexOf(index) : index),
  };
}

/** Fetches as many rows as needed, as soon as they are available; some tools need all rows. */
function useAhead(rows: AnswerRows, wanted: number): void {
  const loaded = rows.loaded.value;
  useEffect(() => {
    void rows.load(wanted);
  }, [rows, wanted, loaded, rows.messageId]);
}

/** Scrolls as little as needed to show a cell between the header, the frozen columns and the edges. */
function reveal(grid: HTMLElement | null, { row, column }: Place, widths: number[], frozen: number): void {
  if (!grid) return;
  const top = { start: row * rowHeight(), size: rowHeight() };
  const down = scrolledTo(top, grid.scrollTop, grid.clientHeight - 2 * rowHeight());
  if (down !== null) grid.scrollTop = down;
  if (column < frozen) return;
  const left = { start: sum(widths.slice(frozen, column)), size: widths[column] ?? 0 };
  const room = grid.clientWidth - sum(widths.slice(0, frozen));
  const along = scrolledTo(left, grid.scrollLeft, room);
  if (along !== null) grid.scrollLeft = along;
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
