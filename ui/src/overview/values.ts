/** Figures of an overview as they are written: compact where they are large. */
import type { OverviewFigure } from "../api/types";
import { locale } from "../shared/locale";
import { dateText } from "../shared/time";

const LARGE = 100_000;
const WHOLE = 1_000;
const NARROW_SPACE = "\u202f";
const PERCENT = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });

export const percent = (ratio: number) => PERCENT.format(Math.abs(ratio));
export const month = (text: string) => dateText(`${text}-01`, "month", "UTC");
export const day = (text: string) => dateText(text, "day", "UTC");
export const weekday = (text: string) => dateText(text, "weekday", "UTC");

/** Of English numbers, as the server writes them: 150 k, 4.87 M, 1.2 bn. */
const SCALES: Record<string, string> = { K: "k", m: "M", B: "bn", T: "tn" };

/** 4.87 M, 10,812, €17.7. */
export function written(value: number, unit: string | null): string {
  const size = Math.abs(value);
  const currency = unit && /^[A-Z]{3}$/.test(unit) ? unit : null;
  const parts = new Intl.NumberFormat(locale, {
    ...(currency && { style: "currency" as const, currency, currencyDisplay: "narrowSymbol" as const }),
    ...(size >= LARGE
      ? { notation: "compact" as const, maximumSignificantDigits: 3 }
      : { minimumFractionDigits: 0, maximumFractionDigits: size >= WHOLE ? 0 : 2 }),
  }).formatToParts(value);
  const text = parts
    .map(({ type, value: part }, index) =>
      type !== "compact"
        ? part
        : (parts[index - 1]?.type === "literal" ? "" : NARROW_SPACE) + (SCALES[part] ?? part),
    )
    .join("");
  return unit && !currency ? `${text} ${unit}` : text;
}

/** The change from the same months a year before; null where there is none that can be said. */
export function changeOf({ value, before }: OverviewFigure): number | null {
  return before !== null && before > 0 && value >= 0 ? (value - before) / before : null;
}

/** The line through the months, in a box of 300 by 56; a month without rows breaks it. */
export function lineOf(months: OverviewFigure["months"]): { line: string; end: string } {
  const values = months.flatMap((each) => each.value ?? []);
  const low = Math.min(...values);
  const range = Math.max(...values) - low || 1;
  const at = (index: number, value: number) =>
    `${((4 + (292 * index) / Math.max(1, months.length - 1)) | 0).toString()} ${(50 - (44 * (value - low)) / range).toFixed(1)}`;
  let line = "";
  let end = "";
  months.forEach(({ value }, index) => {
    if (value === null) return;
    const isFirst = index === 0 || months[index - 1]?.value == null;
    line += `${isFirst ? "M" : "L"}${at(index, value)}`;
    if (isFirst) line += "h0.01"; // a month alone is a dot
    end = `M${at(index, value)}h0.01`;
  });
  return { line, end };
}
