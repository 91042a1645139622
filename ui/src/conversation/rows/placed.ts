/** The columns that are in sight, each with its place in a row. */
import type { Column } from "../../api/types";
import { type Format, isNumeric } from "./format";
import { sum } from "./window";

export interface PlacedColumn {
  column: Column;
  /** Its position in the order shown. */
  at: number;
  /** Its index in the rows. */
  index: number;
  format: Format;
  numeric: boolean;
  frozen: boolean;
  style: Record<string, string>;
}

interface Order {
  columns: Column[];
  formats: Format[];
  /** Indexes of the columns in the order shown, and their widths. */
  shown: number[];
  widths: number[];
  frozen: number;
}

/** The frozen columns, and of the others those from `from` to before `to`. */
export function placed(
  { columns, formats, shown, widths, frozen }: Order,
  { from, to, skipped }: { from: number; to: number; skipped: number },
): PlacedColumn[] {
  return shown.flatMap((index, at) => {
    const column = columns[index];
    const format = formats[index];
    const isFrozen = at < frozen;
    if (!column || !format || (!isFrozen && (at < from || at >= to))) return [];
    const style: Record<string, string> = { width: `${widths[at] ?? 0}px` };
    if (isFrozen) style.left = `${sum(widths.slice(0, at))}px`;
    else if (at === from && skipped > 0) style.marginInlineStart = `${skipped}px`;
    return [{ column, at, index, format, numeric: isNumeric(column), frozen: isFrozen, style }];
  });
}
