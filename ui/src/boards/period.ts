/** The period of a board, as its tiles show it. */
import type { Cell, Pin } from "../api/types";
import { locale } from "../shared/locale";
import { daysText } from "../shared/time";
import { periodTexts } from "./texts";

export const LENGTHS = [7, 30, 90, 365];

const PERCENT = new Intl.NumberFormat(locale, {
  style: "percent",
  maximumFractionDigits: 1,
  signDisplay: "exceptZero",
});

/** The days of a pin's rows with their column, with years unless both are this one. Empty without a period. */
export function daysOf({ period }: Pin, now = new Date()): string {
  if (!period?.since || !period.until || !period.column) return "";
  const [since, until] = [new Date(`${period.since}T00:00`), new Date(`${period.until}T00:00`)];
  const isThisYear = [since, until].every((each) => each.getFullYear() === now.getFullYear());
  const days = daysText(since, until, isThisYear ? "dayOfYear" : "day");
  return periodTexts.by(days, period.column.split(".").at(-1) ?? "");
}

/** The change from the period before, such as "+4%". Empty where it is no percentage. */
export function changeOf(now: Cell, before: Cell): string {
  const [to, from] = [Number(now), Number(before)];
  const known = now !== null && before !== null && Number.isFinite(to) && Number.isFinite(from);
  return known && from !== 0 ? PERCENT.format((to - from) / Math.abs(from)) : "";
}
