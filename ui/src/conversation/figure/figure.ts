/** Results of one number, which a figure says better than a table of one cell. */
import { formatOf, isNumeric } from "../rows/format";
import type { Head } from "../model";
import type { Cell, Column, Row } from "../../api/types";
import { locale } from "../../shared/locale";
import { texts } from "../../shared/texts";

const MOST_COLUMNS = 3;
const MOST_NUMBERS = 2;
const BEFORE = /^(previous|prior|last|before|earlier|prev)$/;
const PERCENT = new Intl.NumberFormat(locale, {
  style: "percent",
  maximumFractionDigits: 1,
  signDisplay: "exceptZero",
});

export interface Figure {
  value: string;
  name: string;
  /** The column of the value, as the result has it. */
  column: string;
  /** The names in the row, such as of the one month asked for. */
  of: string;
  /** The other number of the row, with the change from it where both measure the same. */
  beside: string;
}

/** Whether a result is one row with one number or two. */
export function isFigure({ columns, rowCount }: Head): boolean {
  const numbers = columns.filter(isNumeric).length;
  return rowCount === 1 && columns.length <= MOST_COLUMNS && numbers >= 1 && numbers <= MOST_NUMBERS;
}

export function figureOf(columns: Column[], row: Row): Figure {
  const cells = columns.map((column, at) => {
    const cell = row[at] ?? null;
    return { column, cell, text: cell === null ? texts.rows.nothing : formatOf(column, at, [row])(cell) };
  });
  const numbers = cells.filter((each) => isNumeric(each.column));
  const names = cells.filter((each) => !isNumeric(each.column));
  const isEarlier = (each: (typeof cells)[number]) => words(each.column).some((word) => BEFORE.test(word));
  const first = numbers.find((each) => !isEarlier(each)) ?? numbers[0];
  const second = numbers.find((each) => each !== first);
  return {
    value: first?.text ?? "",
    name: first ? words(first.column).join(" ") : "",
    column: first?.column.name ?? "",
    of: names.map((each) => each.text).join(", "),
    beside: first && second ? besideOf(first, second) : "",
  };
}

interface Named {
  column: Column;
  cell: Cell;
  text: string;
}

/** A change only makes sense between two values of one measure: their names share a word. */
function besideOf(first: Named, second: Named): string {
  const said = `${second.text} ${words(second.column).join(" ")}`;
  const [now, then] = [Number(first.cell), Number(second.cell)];
  const shared = words(second.column).some((word) => words(first.column).includes(word));
  const known = first.cell !== null && second.cell !== null && Number.isFinite(now) && Number.isFinite(then);
  if (!shared || !known || then === 0) return said;
  return texts.figure.change(PERCENT.format((now - then) / Math.abs(then)), said);
}

function words({ name }: Column): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[_\s]+/)
    .filter(Boolean);
}
