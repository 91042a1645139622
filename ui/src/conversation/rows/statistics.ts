/** Figures of a column over all rows. */
import type { Cell, Row } from "../../api/types";
import { plain } from "./format";
import { order } from "./sort";

export interface Statistics {
  nulls: number;
  distinct: number;
  min: Cell;
  max: Cell;
  /** Null unless the column has numbers. */
  mean: number | null;
  /** The most frequent values with their number, at most five. */
  top: [Cell, number][];
}

const TOP = 5;
const NUMBER = /^[+-]?\d+(?:\.\d+)?$/;

export function statisticsOf(rows: Row[], column: number, numeric: boolean): Statistics {
  const present = rows.filter((row) => (row[column] ?? null) !== null);
  const sorted = order(present, { column, descending: false }, numeric);
  const at = (position: number | undefined) => present[position ?? -1]?.[column] ?? null;
  const times = new Map<string, [Cell, number]>();
  for (const row of present) {
    const cell = row[column] ?? null;
    const key = plain(cell);
    times.set(key, [cell, (times.get(key)?.[1] ?? 0) + 1]);
  }
  return {
    nulls: rows.length - present.length,
    distinct: times.size,
    min: at(sorted[0]),
    max: at(sorted.at(-1)),
    mean: numeric && present.length > 0 ? Number(sumOf(rows, column)) / present.length : null,
    top: [...times.values()].sort(([, one], [, other]) => other - one).slice(0, TOP),
  };
}

/** The sum of a column of numbers, exact for decimals; null if it has none. */
export function sumOf(rows: Row[], column: number): string | null {
  const cells = rows.map((row) => row[column] ?? null).filter((cell) => cell !== null);
  if (cells.length === 0) return null;
  const texts = cells.map(plain);
  if (!texts.every((text) => NUMBER.test(text))) {
    return String(texts.reduce((total, text) => total + Number(text), 0));
  }
  const decimals = texts.reduce((most, text) => Math.max(most, text.split(".")[1]?.length ?? 0), 0);
  const total = texts.reduce((all, text) => all + scaled(text, decimals), 0n);
  return unscaled(total, decimals);
}

function scaled(text: string, decimals: number): bigint {
  const [whole = "", part = ""] = text.split(".");
  return BigInt(whole.replace("+", "") + part.padEnd(decimals, "0"));
}

function unscaled(total: bigint, decimals: number): string {
  if (decimals === 0) return String(total);
  const digits = String(total < 0n ? -total : total).padStart(decimals + 1, "0");
  const text = `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  return total < 0n ? `-${text}` : text;
}
