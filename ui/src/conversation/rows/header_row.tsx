import { ArrowDown, ArrowUp, ChevronDown } from "lucide";
import { Icon } from "../../shared/icon";
import { texts } from "../../shared/texts";
import type { PlacedColumn } from "./placed";
import type { Sorting } from "./sort";
import { tableTexts } from "./table_texts";
import { NARROWEST } from "./widths";

interface Shown {
  columns: PlacedColumn[];
  sorting: Sorting | null;
  widthOf: (column: number) => number;
  onSort: (column: number) => void;
  onWidth: (column: number, width: number) => void;
  onMenu: (column: number, button: HTMLElement) => void;
}

/** Names of the columns: a click sorts, the arrow opens the column's menu, the edge resizes. */
export function HeaderRow({ columns, sorting, widthOf, onSort, onWidth, onMenu }: Shown) {
  return (
    <div role="rowgroup" class="grid-head">
      <div role="row" class="grid-row" aria-rowindex={1}>
        {columns.map(({ column, at, index, numeric, frozen, style }) => (
          <div
            key={index}
            role="columnheader"
            class={`cell${numeric ? " numeric" : ""}${frozen ? " frozen" : ""}`}
            style={style}
            aria-colindex={at + 1}
            aria-sort={sortOf(sorting, index)}
          >
            <button type="button" title={texts.rows.sort(column.name)} onClick={() => onSort(index)}>
              <span>{column.name}</span>
              {sorting?.column === index && <Icon of={sorting.descending ? ArrowDown : ArrowUp} size={12} />}
            </button>
            <button
              type="button"
              class="column-button"
              aria-label={tableTexts.column(column.name)}
              aria-haspopup="dialog"
              onClick={(event) => onMenu(index, event.currentTarget)}
            >
              <Icon of={ChevronDown} size={13} />
            </button>
            <Edge name={column.name} width={widthOf(index)} onWidth={(width) => onWidth(index, width)} />
          </div>
        ))}
      </div>
    </div>
  );
}

function sortOf(sorting: Sorting | null, column: number): "ascending" | "descending" | "none" {
  if (sorting?.column !== column) return "none";
  return sorting.descending ? "descending" : "ascending";
}

const STEP = 16;

/** The edge of a column: dragged, or moved by arrow keys. */
function Edge({ name, width, onWidth }: { name: string; width: number; onWidth: (width: number) => void }) {
  const onPointerDown = (event: PointerEvent) => {
    const edge = event.currentTarget as HTMLElement;
    const start = event.clientX - width;
    edge.setPointerCapture(event.pointerId);
    edge.onpointermove = (move) => onWidth(Math.max(NARROWEST, move.clientX - start));
    edge.onpointerup = () => {
      edge.onpointermove = null;
    };
    event.preventDefault();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? STEP : event.key === "ArrowLeft" ? -STEP : 0;
    if (by === 0) return;
    onWidth(Math.max(NARROWEST, width + by));
    event.preventDefault();
  };
  return (
    <hr
      class="edge"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={texts.rows.resize(name)}
      aria-valuenow={width}
      aria-valuemin={NARROWEST}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
    />
  );
}
