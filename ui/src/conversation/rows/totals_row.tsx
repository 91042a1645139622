import type { Row } from "../../api/types";
import { isCode } from "./format";
import type { PlacedColumn } from "./placed";
import { sumOf } from "./statistics";
import { tableTexts } from "./table_texts";

interface Shown {
  rows: Row[];
  columns: PlacedColumn[];
  /** The row's number as assistive technology counts. */
  number: number;
}

/** The sums of the columns that have amounts; ids and years are not added up. */
export function TotalsRow({ rows, columns, number }: Shown) {
  return (
    <div role="rowgroup" class="grid-foot">
      <div role="row" class="grid-row" aria-rowindex={number}>
        {columns.map(({ at, index, column, format, numeric, frozen, style }) => (
          <div
            key={index}
            role="gridcell"
            aria-colindex={at + 1}
            class={`cell${numeric ? " numeric" : ""}${frozen ? " frozen" : ""}`}
            style={style}
          >
            {numeric && !isCode(column) ? format(sumOf(rows, index)) : at === 0 ? tableTexts.total : ""}
          </div>
        ))}
      </div>
    </div>
  );
}
