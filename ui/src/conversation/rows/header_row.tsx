import { ArrowDown, ArrowUp } from "lucide";
import type { Column } from "../../api/types";
import { Icon } from "../../shared/icon";
import { texts } from "../../shared/texts";
import { isNumeric } from "./format";
import type { Sorting } from "./sort";
import { NARROWEST } from "./widths";

interface Shown {
  columns: Column[];
  sorting: Sorting | null;
  widths: number[];
  onSort: (column: number) => void;
  onWidth: (column: number, width: number) => void;
}

/** Names of the columns: a click sorts, the edge resizes. */
export function HeaderRow({ columns, sorting, widths, onSort, onWidth }: Shown) {
  return (
    <div role="rowgroup" class="grid-head">
      <div role="row" class="grid-row" aria-rowindex={1}>
        {columns.map((column, index) => (
          <div
            key={index}
            role="columnheader"
            class={isNumeric(column) ? "cell numeric" : "cell"}
            aria-sort={sortOf(sorting, index)}
          >
            <button type="button" title={texts.rows.sort(column.name)} onClick={() => onSort(index)}>
              <span>{column.name}</span>
              {sorting?.column === index && <Icon of={sorting.descending ? ArrowDown : ArrowUp} size={12} />}
            </button>
            <Edge name={column.name} width={widths[index] ?? 0} onWidth={(width) => onWidth(index, width)} />
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
