import type { Cell } from "../../api/types";

/** JSON on lines of its own, from a value or from text that is a list or an object; null if it is neither. */
export function laidOut(cell: Cell): string | null {
  if (typeof cell === "object" && cell !== null) return JSON.stringify(cell, null, 2);
  if (typeof cell !== "string" || !/^\s*[[{]/.test(cell)) return null;
  try {
    // Numbers stay as they are written only if a double holds them all.
    const found: unknown = JSON.parse(cell);
    const compact = cell.replace(/\s+/g, "");
    return JSON.stringify(found).replace(/\s+/g, "") === compact ? JSON.stringify(found, null, 2) : cell;
  } catch {
    return null;
  }
}
