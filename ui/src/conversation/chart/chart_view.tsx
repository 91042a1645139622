import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isNarrow } from "./height";
import { moved, nearest, type Point } from "./points";
import { descriptionOf, heightOf, isList, type Spec, stretched } from "./spec";
import { chartTexts } from "./texts";
import { type Drawing, type Entry, useDrawing } from "./use_drawing";

interface Shown {
  spec: Spec;
  /** `given`: the drawing has the height of its place, and scrolls in it where its names take more. */
  room?: "own" | "given";
  /** Rows of the result whose points are ringed. */
  lit?: ReadonlySet<number>;
}

const NONE: ReadonlySet<string> = new Set();
const NO_ROWS: ReadonlySet<number> = new Set();

/** The drawing with its legend; a tooltip follows the pointer, a finger and the arrow keys. */
export function ChartView({ spec, room = "own", lit = NO_ROWS }: Shown) {
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const [hidden, hide] = useState(NONE);
  const given = useSize(place);
  const own = heightOf(spec, isNarrow());
  const isGiven = room === "given";
  const height = !isGiven ? own : isList(spec) ? stretched(own, given.height) : given.height;
  const { drawing, failed } = useDrawing(canvas, { spec, width: given.width, height, hidden });
  useEffect(() => hide(NONE), [spec]);
  const toggle = (name: string) =>
    hide(
      (before) => new Set(before.has(name) ? [...before].filter((each) => each !== name) : [...before, name]),
    );
  return (
    <>
      {drawing && drawing.legend.length > 1 && (
        <Legend entries={drawing.legend} hidden={hidden} toggle={toggle} />
      )}
      <div
        class={isGiven && height > given.height ? "chart scrolls" : "chart"}
        ref={place}
        style={isGiven ? undefined : { minHeight: `${own}px` }}
      >
        {failed && <p class="quiet">{chartTexts.failed}</p>}
        <Points drawing={drawing} lit={lit} label={descriptionOf(spec)}>
          <div class="chart-canvas" ref={canvas} aria-hidden="true" hidden={failed} />
        </Points>
      </div>
    </>
  );
}

/** The size of an element, which changes with the window. */
function useSize(place: { current: HTMLElement | null }) {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    if (!place.current) return;
    const { clientWidth, clientHeight } = place.current;
    setSize({ width: clientWidth, height: clientHeight });
    const observer = new ResizeObserver(([entry]) => {
      const { width = 0, height = 0 } = entry?.contentRect ?? {};
      setSize({ width: Math.round(width), height: Math.round(height) });
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return size;
}

interface ShownPoints {
  drawing: Drawing | null;
  lit: ReadonlySet<number>;
  label: string;
  children: ComponentChildren;
}

/** The picture as one stop of the Tab key: arrow keys step through its points, which are said and shown. */
function Points({ drawing, lit, label, children }: ShownPoints) {
  const [at, setAt] = useState<number | null>(null);
  const [spoken, speak] = useState("");
  // Before the next key or movement, which may come as soon as it is drawn.
  useLayoutEffect(() => setAt(null), [drawing]);
  const points = drawing?.points ?? [];
  const point = at === null ? undefined : points[at];
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && at !== null) setAt(null);
    else {
      const next = moved(event.key, at, points.length);
      if (next === null) return;
      setAt(next);
      speak(points[next]?.said ?? "");
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const onPointer = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    const element = document.elementFromPoint(event.clientX, event.clientY);
    setAt(nearest(points, event.clientX - box.left, event.clientY - box.top, element));
  };
  return (
    <div
      class="chart-drawing"
      role="group"
      aria-label={chartTexts.keys}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onBlur={() => setAt(null)}
      onPointerMove={onPointer}
      onPointerDown={onPointer}
      onPointerLeave={() => setAt(null)}
    >
      <div role="img" aria-label={label || chartTexts.unnamed}>
        {children}
      </div>
      {drawing && (
        <svg class="chart-rings" aria-hidden="true" width={drawing.width} height={drawing.height}>
          {points
            .filter(({ row }) => row !== null && lit.has(row))
            .map((each) => (
              <Ring key={each.said} point={each} />
            ))}
          {point && <Ring point={point} />}
        </svg>
      )}
      {drawing && point && <Tooltip point={point} drawing={drawing} />}
      <span class="visually-hidden" role="status">
        {spoken}
      </span>
    </div>
  );
}

function Ring({ point: { x, y, box, outline, frame } }: { point: Point }) {
  const path = outline?.getAttribute("d");
  if (path) return <path d={path} transform={`translate(${frame.left} ${frame.top})`} />;
  if (!box) return <circle cx={x} cy={y} r={6} />;
  const { left, top, right, bottom } = box;
  return <rect x={left - 1} y={top - 1} width={right - left + 2} height={bottom - top + 2} rx={2} />;
}

/** Beside the point, on the side that has more room. */
function Tooltip({ point: { x, y, said }, drawing }: { point: Point; drawing: Drawing }) {
  const side = x < drawing.width / 2 ? { left: `${x + 14}px` } : { right: `calc(100% - ${x - 14}px)` };
  const top = Math.max(0, Math.min(y - 14, drawing.height - 34));
  return (
    <div class="chart-tooltip" style={{ top: `${top}px`, ...side }} aria-hidden="true">
      {said}
    </div>
  );
}

interface ShownLegend {
  entries: Entry[];
  hidden: ReadonlySet<string>;
  toggle: (name: string) => void;
}

function Legend({ entries, hidden, toggle }: ShownLegend) {
  return (
    <ul class="chart-legend" aria-label={chartTexts.legend}>
      {entries.map(({ name, color }) => (
        <li key={name}>
          <button type="button" aria-pressed={!hidden.has(name)} onClick={() => toggle(name)}>
            <svg width={10} height={10} aria-hidden="true">
              <circle cx={5} cy={5} r={5} fill={color} />
            </svg>
            {name}
          </button>
        </li>
      ))}
    </ul>
  );
}
