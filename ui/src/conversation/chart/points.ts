/** The points of a drawing: what the pointer and the arrow keys can be at. */
import type { View } from "vega";

export interface Point {
  /** Where it is said, in the drawing. */
  x: number;
  y: number;
  /** What it covers, if it is no dot. */
  box: Box | null;
  /** The outline of a place on a map: its box covers its neighbours, too. */
  outline: Element | null;
  /** The point as people say it. */
  said: string;
  /** The row of the result that it is, from 0; null if it is made of several. */
  row: number | null;
  /** Whether it is a place of a line, which is meant from above and below, too. */
  onLine: boolean;
  /** The view that it is in. */
  frame: Box;
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface Bounds {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

/** An item of Vega's scene, as far as it is read here. */
export interface Item {
  x?: number;
  y?: number;
  width?: number;
  height?: number;
  defined?: boolean;
  opacity?: number;
  bounds?: Bounds;
  datum?: Record<string, unknown>;
  description?: string;
  startAngle?: number;
  endAngle?: number;
  innerRadius?: number;
  outerRadius?: number;
  items?: Mark[];
  /** The element that it is drawn as. */
  _svg?: Element | null;
}

export interface Mark {
  marktype: string;
  role?: string;
  name?: string;
  items: Item[];
}

const NAMED = /^(?:.+_)?points(?:_\d+)?_(?:layer_\d+_)?marks$/;
const POINTS = ["symbol", "rect", "line", "area", "arc", "trail", "shape"];
const LINES = ["line", "area", "trail"];
const NEAR = 48;
const ALONG = 0.25;

/** The points of a drawing: those of the marks that its specification names so, else all that it describes. */
export function pointsOf(view: View): Point[] {
  const root = (view.scenegraph() as unknown as { root: Mark }).root;
  const [left, top] = view.origin();
  const { left: padLeft = 0, top: padTop = 0 } = view.padding() as Partial<Box>;
  return pointsIn(root, padLeft + left, padTop + top);
}

export function pointsIn(root: Mark, left = 0, top = 0): Point[] {
  const named: Point[] = [];
  const others: Point[] = [];
  collect(root, { left, top, right: left, bottom: top }, (mark, frame) => {
    if (!POINTS.includes(mark.marktype) || mark.role !== "mark") return;
    const found = mark.items.flatMap((item) => pointOf(item, mark, frame) ?? []);
    (NAMED.test(mark.name ?? "") ? named : others).push(...found);
  });
  return once(named.length > 0 ? named : others);
}

/** The point that a pointer on an element means; null if none is near, and on a map unless it is on a place. */
export function nearest(
  points: readonly Point[],
  x: number,
  y: number,
  element: Element | null = null,
): number | null {
  let best: number | null = null;
  let least = Infinity;
  for (const [at, point] of points.entries()) {
    if (point.outline) {
      if (point.outline === element) return at;
      continue;
    }
    const outside = distance(point.frame, x, y);
    const away = point.box
      ? distance(point.box, x, y)
      : Math.hypot(point.x - x, (point.y - y) * (point.onLine ? ALONG : 1));
    const total = away + 2 * outside;
    if (total < least) [best, least] = [at, total];
  }
  return least <= NEAR ? best : null;
}

/** The next point by a key; null if the key is not one that moves. */
export function moved(key: string, at: number | null, count: number): number | null {
  const last = count - 1;
  if (last < 0) return null;
  switch (key) {
    case "ArrowRight":
    case "ArrowDown":
      return at === null ? 0 : Math.min(last, at + 1);
    case "ArrowLeft":
    case "ArrowUp":
      return at === null ? last : Math.max(0, at - 1);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}

function collect(mark: Mark, frame: Box, visit: (mark: Mark, frame: Box) => void): void {
  if (mark.marktype !== "group") {
    visit(mark, frame);
    return;
  }
  for (const group of mark.items) {
    const left = frame.left + (group.x ?? 0);
    const top = frame.top + (group.y ?? 0);
    const right = group.width ? left + group.width : frame.right;
    const bottom = group.height ? top + group.height : frame.bottom;
    for (const inner of group.items ?? []) collect(inner, { left, top, right, bottom }, visit);
  }
}

function pointOf(item: Item, { marktype }: Mark, frame: Box): Point | null {
  const { datum = {}, description, bounds, defined } = item;
  const said = typeof datum.said === "string" ? datum.said : description;
  if (!said || defined === false) return null;
  const row = typeof datum.row === "number" ? datum.row : null;
  const outline = marktype === "shape" ? (item._svg ?? null) : null;
  const common = { said, row, frame, outline, onLine: LINES.includes(marktype) };
  if (common.onLine || marktype === "symbol") {
    const { x, y } = item;
    return finite(x, y) ? { ...common, x: frame.left + x, y: frame.top + Number(y), box: null } : null;
  }
  if (marktype === "arc") {
    const angle = ((item.startAngle ?? 0) + (item.endAngle ?? 0)) / 2;
    const radius = ((item.innerRadius ?? 0) + (item.outerRadius ?? 0)) / 2;
    const x = frame.left + (item.x ?? 0) + radius * Math.sin(angle);
    return { ...common, x, y: frame.top + (item.y ?? 0) - radius * Math.cos(angle), box: null };
  }
  const covered = largestPart(outline) ?? bounds;
  if (!covered) return null;
  const box = {
    left: frame.left + covered.x1,
    top: frame.top + covered.y1,
    right: frame.left + covered.x2,
    bottom: frame.top + covered.y2,
  };
  return { ...common, x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2, box };
}

const CORNER = /(-?[\d.]+(?:e-?\d+)?),(-?[\d.]+(?:e-?\d+)?)/g;

/** The bounds of the largest part of an outline: a country may have islands at the other end of the world. */
function largestPart(outline: Element | null): Bounds | null {
  let largest: Bounds | null = null;
  const sizeOf = ({ x1, y1, x2, y2 }: Bounds) => (x2 - x1) * (y2 - y1);
  for (const part of outline?.getAttribute("d")?.split("M") ?? []) {
    const corners = [...part.matchAll(CORNER)];
    if (corners.length === 0) continue;
    const xs = corners.map(([, x]) => Number(x));
    const ys = corners.map(([, , y]) => Number(y));
    const bounds = { x1: Math.min(...xs), y1: Math.min(...ys), x2: Math.max(...xs), y2: Math.max(...ys) };
    if (largest === null || sizeOf(bounds) > sizeOf(largest)) largest = bounds;
  }
  return largest;
}

function finite(x: number | undefined, y: number | undefined): x is number {
  return Number.isFinite(x) && Number.isFinite(y);
}

/** A line with dots has each of its places twice. */
function once(points: Point[]): Point[] {
  const met = new Set<string>();
  return points.filter(({ x, y, said }) => {
    const key = `${Math.round(x)} ${Math.round(y)} ${said}`;
    return !met.has(key) && met.add(key);
  });
}

function distance({ left, top, right, bottom }: Box, x: number, y: number): number {
  return Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
}
