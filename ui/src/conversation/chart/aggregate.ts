/** Rows put together: by place and series, by unit of time, by sum, mean, count or median. */
import type { Cell } from "../../api/types";
import { locale } from "../../shared/locale";
import type { TimeUnit } from "./intent";
import { timeOf } from "./numbers";

export const AGGREGATES = ["none", "sum", "mean", "count", "median"] as const;
export type Aggregate = (typeof AGGREGATES)[number];
export const SORTS = ["rows", "value", "name", "natural"] as const;
export type Sort = (typeof SORTS)[number];

const DAY_MS = 86_400_000;
const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const MONTHS = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];
const SHORTEST_NAME = 3;

const DIGITS = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,3})?$/;

/** The cell as a number; numbers that a double cannot hold arrive as text. Null if it is none, such as 007. */
export function amountOf(cell: Cell | undefined): number | null {
  const value = typeof cell === "string" && DIGITS.test(cell) ? Number(cell) : cell;
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Puts the values of a place together; gaps do not count. Null if there is no value. */
export function together(cells: (Cell | undefined)[], how: Aggregate): number | null {
  const values = cells.map(amountOf).filter((value) => value !== null);
  if (how === "count") return cells.filter((cell) => cell !== null).length;
  if (values.length === 0) return null;
  const sum = values.reduce((total, value) => total + value, 0);
  switch (how) {
    case "mean":
      return sum / values.length;
    case "median":
      return medianOf(values);
    default:
      return Number(sum.toPrecision(15));
  }
}

/** Whether sums of what was put together mean something. */
export function adds(how: Aggregate): boolean {
  return how === "sum" || how === "count";
}

/** The first day of the unit that a date is in; the cell itself if it is no date. */
export function startOf(cell: Cell, unit: TimeUnit): Cell {
  const time = timeOf(cell);
  return Number.isNaN(time) ? cell : firstDayOf(time, unit);
}

/** The first day of the unit that a time in UTC is in. */
export function firstDayOf(time: number, unit: TimeUnit): string {
  const date = new Date(time);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const start = {
    day: () => Math.floor(time / DAY_MS) * DAY_MS,
    week: () => (Math.floor(time / DAY_MS) - ((date.getUTCDay() + 6) % 7)) * DAY_MS,
    month: () => Date.UTC(year, month),
    quarter: () => Date.UTC(year, month - (month % 3)),
    year: () => Date.UTC(year, 0),
  }[unit]();
  return new Date(start).toISOString().slice(0, 10);
}

/** Names in their natural order: weekdays and months as in a calendar, numbers by size. */
export function natural(names: string[]): string[] {
  const rank = calendarOf(names);
  const compare = new Intl.Collator(locale, { numeric: true }).compare;
  return [...names].sort((one, other) => (rank ? rank(one) - rank(other) : compare(one, other)));
}

/** Whether all names are weekdays, or all are months. */
export function isCalendar(names: string[]): boolean {
  return calendarOf(names) !== null;
}

function calendarOf(names: string[]): ((name: string) => number) | null {
  for (const calendar of [WEEKDAYS, MONTHS]) {
    const at = (name: string) => {
      const short = name.trim().toLowerCase();
      return short.length < SHORTEST_NAME ? -1 : calendar.findIndex((each) => each.startsWith(short));
    };
    if (names.length > 0 && names.every((name) => at(name) >= 0)) return at;
  }
  return null;
}

function medianOf(values: number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  if (!Number.isInteger(middle)) return sorted[Math.floor(middle)] ?? 0;
  return ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
