import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { shownTheme } from "../../shared/theme";
import type { Plot, Scene, Stop } from "./drawing";
import { drawingHeight, FOOT, heightIn } from "./height";
import type { Chart } from "./intent";
import { type ChartColors, colorsOf } from "./look";
import { shown } from "./nodes";
import type { Series } from "./plotted";
import { sceneOf } from "./scene";
import { summaryOf } from "./summary";
import { chartTexts } from "./texts";

interface Shown {
  chart: Chart;
  /** Series that are not drawn, by name. */
  hidden: ReadonlySet<string>;
  toggle: (name: string) => void;
  /** `given`: the drawing has the height of its place, and scrolls in it where its names take more. */
  room?: "own" | "given";
}

/** The drawing with its legend; a tooltip follows the pointer, a finger and the arrow keys. */
export function ChartView({ chart, hidden, toggle, room = "own" }: Shown) {
  const place = useRef<HTMLDivElement>(null);
  const { width, height: given, colors } = usePlace(place);
  const isGiven = room === "given";
  const height = isGiven ? heightIn(chart, given) : drawingHeight(chart);
  const scrolls = isGiven && height > given;
  const scene = useMemo(
    () =>
      width > 0 && height > 0 && colors
        ? sceneOf(chart, { width, height, colors, hidden, direct: true })
        : null,
    [chart, width, height, colors, hidden],
  );
  return (
    <>
      {scene && scene.legend.length > 0 && <Legend series={scene.legend} hidden={hidden} toggle={toggle} />}
      <div
        class={scrolls ? "chart scrolls" : "chart"}
        ref={place}
        style={isGiven ? undefined : { minHeight: `${height}px` }}
      >
        {scene && <Drawing chart={chart} scene={scene} scrolls={scrolls} />}
      </div>
    </>
  );
}

/** The size and the colours to draw with, which change with the window and the theme. */
function usePlace(place: { current: HTMLElement | null }) {
  const [{ width, height }, setSize] = useState({ width: 0, height: 0 });
  const [colors, setColors] = useState<ChartColors | null>(null);
  const theme = shownTheme();
  useEffect(() => {
    if (!place.current) return;
    const observer = new ResizeObserver(([entry]) => {
      const { width = 0, height = 0 } = entry?.contentRect ?? {};
      setSize({ width: Math.round(width), height: Math.round(height) });
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (place.current) setColors(colorsOf(place.current));
  }, [theme]);
  return { width, height, colors };
}

function Drawing({ chart, scene, scrolls }: { chart: Chart; scene: Scene; scrolls: boolean }) {
  const [at, setAt] = useState<number | null>(null);
  const [spoken, speak] = useState("");
  // Before the next key or movement, which may come as soon as it is drawn.
  useLayoutEffect(() => setAt(null), [scene]);
  const stop = at === null ? undefined : scene.stops[at];
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && at !== null) setAt(null);
    else {
      const next = moved(event.key, at, scene.stops.length);
      if (next === null) return;
      setAt(next);
      speak(sentenceOf(scene.stops[next]));
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const onPointer = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    setAt(nearest(scene, event.clientX - box.left, event.clientY - box.top));
  };
  const label = chartTexts.label(chart.value.title, chart.across.title, chart.how);
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
      <svg
        role="img"
        aria-label={`${label} ${summaryOf(chart)}`.trim()}
        width={scene.width}
        height={scene.height}
        viewBox={`0 0 ${scene.width} ${scene.height}`}
      >
        {scene.nodes.map((node, index) => shown(node, index))}
        {stop && <Crosshair stop={stop} scene={scene} />}
      </svg>
      {scrolls && <Foot scene={scene} />}
      {stop && <Tooltip stop={stop} scene={scene} />}
      <span class="visually-hidden" role="status">
        {spoken}
      </span>
    </div>
  );
}

/** The axis below, again: over that of the drawing, or over what is scrolled. */
function Foot({ scene: { width, height, foot } }: { scene: Scene }) {
  return (
    <svg
      class="chart-foot"
      aria-hidden="true"
      width={width}
      height={FOOT}
      viewBox={`0 ${height - FOOT} ${width} ${FOOT}`}
    >
      {foot?.map((node, index) => shown(node, index))}
    </svg>
  );
}

function Crosshair({ stop, scene }: { stop: Stop; scene: Scene }) {
  const { left, right, top, bottom }: Plot = scene.plot;
  const { x, y } = stop;
  return (
    <g class="crosshair">
      {scene.along === "x" && <line x1={x} x2={x} y1={top} y2={bottom} />}
      {scene.along === "y" && <line x1={left} x2={right} y1={y} y2={y} />}
      {scene.along !== "y" &&
        stop.entries.map((entry) => (
          <circle
            key={entry.name}
            cx={scene.along === "x" ? entry.x : x}
            cy={scene.along === "x" ? entry.y : y}
            r={4.5}
            fill={entry.color}
          />
        ))}
    </g>
  );
}

/** Beside the stop, on the side that has more room. */
function Tooltip({ stop, scene }: { stop: Stop; scene: Scene }) {
  const { x, y, name, entries } = stop;
  const right = x < scene.width / 2;
  const style = {
    top: `${Math.max(0, Math.min(y - 12, scene.height - 44 - entries.length * 20))}px`,
    ...(right ? { left: `${x + 14}px` } : { right: `${scene.width - x + 14}px` }),
  };
  return (
    <div class="chart-tooltip" style={style} aria-hidden="true">
      <strong>{name}</strong>
      {entries.map((entry) => (
        <span key={entry.name}>
          <i style={{ background: entry.color }} /> {entry.name} <b>{entry.text}</b>
        </span>
      ))}
    </div>
  );
}

interface ShownLegend {
  series: Series[];
  hidden: ReadonlySet<string>;
  toggle: (name: string) => void;
}

function Legend({ series, hidden, toggle }: ShownLegend) {
  return (
    <ul class="chart-legend" aria-label={chartTexts.legend}>
      {series.map(({ name, color, dash }) => (
        <li key={name}>
          <button type="button" aria-pressed={!hidden.has(name)} onClick={() => toggle(name)}>
            <svg width={20} height={8} aria-hidden="true">
              <line x1={0} x2={20} y1={4} y2={4} stroke={color} stroke-width={4} stroke-dasharray={dash} />
            </svg>
            {name}
          </button>
        </li>
      ))}
    </ul>
  );
}

function moved(key: string, at: number | null, count: number): number | null {
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

function sentenceOf(stop: Stop | undefined): string {
  return stop ? `${stop.name}: ${stop.entries.map(({ name, text }) => `${name} ${text}`).join(", ")}` : "";
}

function nearest({ stops, along }: Scene, x: number, y: number): number | null {
  let best: number | null = null;
  let least = Infinity;
  for (const [at, stop] of stops.entries()) {
    const distance = Math.hypot(along === "y" ? 0 : stop.x - x, along === "x" ? 0 : stop.y - y);
    if (distance < least) [best, least] = [at, distance];
  }
  return best;
}
