import { X } from "lucide";
import type { Cell, Column, Row } from "../../api/types";
import { Icon } from "../../shared/icon";
import { texts } from "../../shared/texts";
import { count } from "../../shared/time";
import { type Format, plain } from "./format";
import { laidOut } from "./laid_out";
import { tableTexts } from "./table_texts";

interface Shown {
  number: number;
  row: Row;
  columns: Column[];
  formats: Format[];
  onClose: () => void;
}

/** One row at the side of the grid, every value in full. */
export function RowDetail({ number, row, columns, formats, onClose }: Shown) {
  const name = tableTexts.row(count(number));
  return (
    <aside class="row-detail" aria-label={name} tabIndex={0}>
      <header>
        <strong>{name}</strong>
        <button type="button" class="icon-button" aria-label={texts.close} onClick={onClose}>
          <Icon of={X} />
        </button>
      </header>
      <dl>
        {columns.map((column, index) => (
          <div key={index}>
            <dt>{column.name}</dt>
            <dd>
              <Value cell={row[index] ?? null} format={formats[index] ?? plain} />
            </dd>
          </div>
        ))}
      </dl>
    </aside>
  );
}

function Value({ cell, format }: { cell: Cell; format: Format }) {
  if (cell === null) return <em>{texts.rows.nothing}</em>;
  const json = laidOut(cell);
  return json === null ? <>{format(cell)}</> : <pre>{json}</pre>;
}
