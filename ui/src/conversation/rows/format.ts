/** Cells as people read them. */
import type { Cell, Column, Row } from "../../api/types";
import { locale } from "../../shared/locale";
import { dateText } from "../../shared/time";

export type Format = (cell: Cell) => string;

const NUMERIC = new Set(["integer", "number"]);
const MOST_DECIMALS = 4;
const PLAIN_NUMBER = /(^|_)(id|year|zip|code|no)$|Id$/i;
const ZONED = /(Z|[+-]\d\d:?\d\d)$/;

export const isNumeric = (column: Column) => NUMERIC.has(column.type);

/** Whether its numbers are names: ids, years and the like, which have no separators and no sum. */
export const isCode = (column: Column) => PLAIN_NUMBER.test(column.name);

/** A column's format: numbers get as many decimals as the rows at hand have, so that they line up. */
export function formatOf(column: Column, index: number, rows: Row[]): Format {
  if (isNumeric(column)) return numberFormat(column, index, rows);
  if (column.type === "date") return (cell) => onDate(cell, "day", "UTC");
  if (column.type === "datetime") return datetime;
  return plain;
}

/** The value itself, for copying and for types without a format. */
export function plain(cell: Cell): string {
  if (cell === null) return "";
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}

function numberFormat(column: Column, index: number, rows: Row[]): Format {
  const decimals = Math.max(0, ...rows.slice(0, 100).map((row) => decimalsOf(row[index] ?? null)));
  const digits = Math.min(decimals, MOST_DECIMALS);
  const format = new Intl.NumberFormat(locale, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: !isCode(column),
  });
  // A number that a double cannot hold arrives as text, which Intl formats exactly.
  return (cell) => (isNumber(cell) ? format.format(cell as number) : plain(cell));
}

function isNumber(cell: Cell): boolean {
  return (
    typeof cell === "number" ||
    (typeof cell === "string" && cell.trim() !== "" && !Number.isNaN(Number(cell)))
  );
}

/** Decimals of a number: one for 0.1 + 0.2, not seventeen, as a double's rounding errors do not count. */
function decimalsOf(cell: Cell): number {
  const text = typeof cell === "number" ? String(Number(cell.toFixed(6))) : plain(cell);
  return isNumber(cell) ? (text.split(".")[1]?.length ?? 0) : 0;
}

/** A time without a zone is shown as stored; one with a zone is shown in the reader's zone. */
function datetime(cell: Cell): string {
  if (typeof cell !== "string") return plain(cell);
  return ZONED.test(cell) ? onDate(cell, "second") : onDate(cell, "second", "UTC");
}

/** A date of a column; a cell that is none stays as it is. In UTC those without a zone are as stored. */
function onDate(cell: Cell, form: "day" | "second", timeZone?: string): string {
  const text = plain(cell);
  const isWallTime = form === "second" && timeZone !== undefined;
  const time = new Date(isWallTime ? `${text.replace(" ", "T")}Z` : text);
  return cell === null || Number.isNaN(time.getTime()) ? text : dateText(time, form, timeZone);
}
