/** Values on top of each other: those above zero upwards, those below downwards. */
import type { Cell } from "./plotted";

export interface Stacked extends Cell {
  from: number;
  to: number;
}

/** Each cell with its ends; `share` makes the values of a place shares of their sum. */
export function stacked(cells: Cell[], share: boolean): Stacked[] {
  const sums = new Map<number, number>();
  for (const { place, value } of cells) sums.set(place, (sums.get(place) ?? 0) + Math.abs(value ?? 0));
  const above = new Map<number, number>();
  const below = new Map<number, number>();
  return cells.map((cell) => {
    const sum = sums.get(cell.place) ?? 0;
    const value = (cell.value ?? 0) / (share && sum > 0 ? sum : 1);
    const pile = value < 0 ? below : above;
    const from = pile.get(cell.place) ?? 0;
    // Shares of a whole are at most one, whatever their last digits say.
    const to = share ? Math.max(-1, Math.min(1, from + value)) : from + value;
    pile.set(cell.place, to);
    return { ...cell, from, to };
  });
}

/** Each cell from zero to its value, for bars beside each other and for lines. */
export function apart(cells: Cell[]): Stacked[] {
  return cells.map((cell) => ({ ...cell, from: 0, to: cell.value ?? 0 }));
}

/** The lowest and highest end, zero included if `zero`; never empty. */
export function extent(values: number[], zero: boolean): [number, number] {
  let low = zero ? 0 : Infinity;
  let high = zero ? 0 : -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (!Number.isFinite(low)) return [0, 1];
  return low === high ? [Math.min(low, 0), high > 0 ? high : low < 0 ? 0 : 1] : [low, high];
}
