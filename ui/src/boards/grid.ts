/** The grid of a board: twelve columns, filled in the order of the pins. */

export const COLUMNS = 12;
export const MIN_WIDTH = 2;
export const MAX_HEIGHT = 6;

const LEAST_FILLED = 4;

/** Columns that tiles take on a screen of middle width: rows of tiles of one height fill the whole width. */
export function filled(tiles: readonly { width: number; height: number }[]): number[] {
  const rows: { height: number; widths: number[] }[] = [];
  for (const { width: wanted, height } of tiles) {
    const width = Math.min(COLUMNS, Math.max(LEAST_FILLED, wanted));
    const row = rows.at(-1);
    if (row?.height === height && sum(row.widths) + width <= COLUMNS) row.widths.push(width);
    else rows.push({ height, widths: [width] });
  }
  return rows.flatMap(({ height, widths }, index) => {
    // No tile is left alone by a row of three.
    const after = rows[index + 1];
    if (widths.length > 2 && after?.height === height && after.widths.length === 1)
      after.widths.unshift(...widths.splice(-1));
    const rest = COLUMNS - sum(widths);
    return widths.map((width, at) => width + Math.floor((rest + at) / widths.length));
  });
}

const sum = (numbers: readonly number[]) => numbers.reduce((whole, each) => whole + each, 0);

/** Where a tile is on the screen. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** The items with one of them at another place. A place outside of the list is its end. */
export function moved<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const rest = items.filter((_, index) => index !== from);
  const item = items[from];
  if (item === undefined) return rest;
  const place = Math.min(rest.length, Math.max(0, to));
  return [...rest.slice(0, place), item, ...rest.slice(place)];
}

/** The place that an arrow key moves a tile to: beside it in the order, or that of the next tile above or below. */
export function placeFor(key: string, at: number, boxes: readonly Box[]): number {
  if (key === "ArrowLeft") return Math.max(0, at - 1);
  if (key === "ArrowRight") return Math.min(boxes.length - 1, at + 1);
  const own = boxes[at];
  if (own === undefined) return at;
  const up = key === "ArrowUp";
  const beyond = boxes
    .map((box, index) => ({ index, away: up ? own.top - box.top : box.top - own.top, box }))
    .filter(({ index, away }) => index !== at && away > 1);
  const nearest = Math.min(...beyond.map(({ away }) => away));
  const row = beyond.filter(({ away }) => away - nearest < 1);
  row.sort((one, other) => aside(one.box, own) - aside(other.box, own));
  return row[0]?.index ?? at;
}

/** The place of the tile under a point, or null. */
export function placeAt(x: number, y: number, boxes: readonly Box[]): number | null {
  const at = boxes.findIndex(
    ({ left, top, width, height }) => x >= left && x < left + width && y >= top && y < top + height,
  );
  return at < 0 ? null : at;
}

const aside = (one: Box, other: Box) => Math.abs(one.left - other.left);
