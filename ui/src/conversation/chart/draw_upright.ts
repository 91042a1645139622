/** Lines, areas, points and vertical bars over time, numbers or names. */
import { area, line, symbol, symbolsFill } from "d3-shape";
import {
  horizontalTicks,
  type Label,
  labelsBelow,
  placeTicks,
  textNode,
  timeTicks,
  verticalTicks,
} from "./axes";
import { unitOf } from "./draw_lying";
import type { Chart } from "./intent";
import { cut, textWidth } from "./letters";
import { type Node, node } from "./nodes";
import { MANY_SERIES } from "./palette";
import type { Place, Plotted, Series } from "./plotted";
import { axisNumbers, entryText, type Plot, type Scene, type Setting, type Stop } from "./drawing";
import { bands, type Linear, linear, time } from "./scales";
import { apart, extent, type Stacked, stacked } from "./stack";

const TOP = 26;
const BOTTOM = 28;
const TITLE = 18;
const RIGHT = 14;
const MOST_DIRECT = 6;
const ROOM_FOR_NAMES = 560;
const LONGEST_DIRECT = 130;
const FEW_POINTS = 40;
const LINE_HEIGHT = 15;
const FAR_FROM_ZERO = 0.6;
const GAP = 8;
const BARS: readonly string[] = ["bar", "stacked", "percent", "histogram", "combo"];

/** The horizontal scale: where each place is, and how wide its bar may be. */
interface Across {
  at: (place: Place) => number;
  bar: number;
  labels: Label[];
}

/** What the marks of every kind need. */
interface Frame {
  chart: Chart;
  plot: Plot;
  places: Place[];
  series: Series[];
  ends: Stacked[];
  across: Across;
  y: Linear;
}

export function upright(chart: Chart, data: Plotted, setting: Setting): Scene {
  const { width, height, colors } = setting;
  const { places, series, cells } = data;
  const share = chart.mark === "percent";
  const piled = share || chart.mark === "stacked" || (chart.mark === "area" && chart.adds);
  const ends = piled ? stacked(cells, share) : apart(cells);
  const numbers = axisNumbers(
    chart,
    cells.map((cell) => cell.value),
    share,
  );
  const named = isNamedDirectly(chart, series, setting);
  const titled = chart.across.kind === "quantitative" || chart.mark === "histogram";
  const plot: Plot = {
    left: 0,
    top: TOP,
    right: width - RIGHT - (named ? widest(series.map((each) => each.name)) + 10 : 0),
    bottom: height - BOTTOM - (titled ? TITLE : 0),
  };
  const y = linear(domainOf(chart, ends), [plot.bottom, plot.top], 6);
  const ticks = verticalTicks(y, plot.bottom - plot.top, numbers);
  plot.left = widest(ticks.map((tick) => tick.text)) + 10;
  const second = secondAxis(data, plot, chart);
  if (second) plot.right -= widest(second.ticks.map((tick) => tick.text)) + 10;
  const across = acrossOf(chart, places, plot, width);
  const frame: Frame = { chart, plot, places, series, ends, across, y };
  const nodes = [
    ...ticks.map(({ tick }) =>
      node("line", { x1: plot.left, x2: plot.right, y1: tick, y2: tick, stroke: colors.line }),
    ),
    ...marksOf(frame, setting),
    ...(second ? second.draw(across, colors.muted) : []),
    node("line", { x1: plot.left, x2: plot.right, y1: plot.bottom, y2: plot.bottom, stroke: colors.muted }),
    ...ticks.map(({ at, text }) =>
      textNode(text, {
        class: "tick-y",
        x: plot.left - 8,
        y: at + 4,
        "text-anchor": "end",
        fill: colors.muted,
      }),
    ),
    ...labelsBelow(across.labels, plot.bottom, colors.muted),
    textNode(cut(unitOf(chart), chart.second ? width / 2 - GAP : width), { x: 0, y: 12, fill: colors.muted }),
    ...(chart.second
      ? [
          textNode(cut(chart.second.title, width / 2 - GAP), {
            x: width,
            y: 12,
            "text-anchor": "end",
            fill: colors.muted,
          }),
        ]
      : []),
    ...(titled
      ? [
          textNode(cut(chart.across.title, plot.right - plot.left), {
            x: plot.right,
            y: height - 4,
            "text-anchor": "end",
            fill: colors.muted,
          }),
        ]
      : []),
    ...(named ? directNames(frame) : []),
  ];
  const stops = chart.mark === "point" ? pointStops(frame) : placeStops(frame, data.second, second);
  const along = chart.mark === "point" ? "both" : "x";
  return { width, height, nodes, stops, along, plot, legend: named || series.length < 2 ? [] : series };
}

function isNamedDirectly({ mark }: Chart, series: Series[], { direct, width }: Setting): boolean {
  const drawnAsLines = mark === "line" || mark === "area";
  return (
    direct && drawnAsLines && series.length > 1 && series.length <= MOST_DIRECT && width >= ROOM_FOR_NAMES
  );
}

function widest(names: string[]): number {
  return Math.max(0, ...names.map((name) => Math.min(LONGEST_DIRECT, textWidth(name))));
}

/** Bars and areas start at zero; so do lines and points, unless all of them are far from it. */
function domainOf({ mark }: Chart, ends: Stacked[]): [number, number] {
  const solid = BARS.includes(mark) || mark === "area";
  const values = ends.flatMap(({ from, to, value, band = [] }) =>
    value === null ? [] : solid ? [from, to] : [to, ...band],
  );
  const [low, high] = extent(values, false);
  return extent(values, solid || !(low > high * FAR_FROM_ZERO && low > 0));
}

function acrossOf(chart: Chart, places: Place[], plot: Plot, width: number): Across {
  const range: [number, number] = [plot.left, plot.right];
  const edges: [number, number] = [0, width];
  const bars = BARS.includes(chart.mark);
  const values = places.map((place) => place.at);
  if (chart.across.kind === "temporal") {
    const gap = bars ? smallestGap(values) : 0;
    const [from, to] = extent(values, false);
    const scale = time([new Date(from - gap / 2), new Date(to + gap / 2)], range);
    const bar = Math.max(1, (scale(new Date(from + gap)) - scale(new Date(from))) * 0.8);
    return { at: (place) => scale(new Date(place.at)), bar, labels: timeTicks(scale, edges) };
  }
  if (chart.across.kind === "quantitative") {
    const gap = bars ? smallestGap(values) : 0;
    const [from, to] = extent(values, false);
    const scale = linear([from - gap / 2, to + gap / 2], range, bars ? undefined : 8);
    const plain = { format: "auto", unit: "" } as const;
    const bar = Math.max(1, (scale(from + gap) - scale(from)) * 0.8);
    return { at: (place) => scale(place.at), bar, labels: horizontalTicks(scale, edges, plain) };
  }
  const order = places.map((_, at) => at);
  const scale = bands(order, range, chart.mark === "histogram" ? 0.03 : 0.24);
  const names = places.map((place) => place.name);
  const labels = placeTicks(scale, names, edges);
  return { at: (place) => (scale(place.at) ?? 0) + scale.width / 2, bar: scale.width, labels };
}

/** The smallest distance between two places: bars as wide as it do not cover each other. */
function smallestGap(values: number[]): number {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  const gaps = sorted.slice(1).map((value, at) => value - (sorted[at] ?? value));
  return gaps.reduce((least, gap) => Math.min(least, gap), gaps[0] ?? 1);
}

function marksOf(frame: Frame, { colors }: Setting): Node[] {
  const { chart, series, ends } = frame;
  switch (chart.mark) {
    case "line":
      return series.flatMap((each, at) => lineOf(frame, each, ofSeries(ends, at), colors.ink));
    case "area":
      return series.flatMap((each, at) => areaOf(frame, each, ofSeries(ends, at)));
    case "point":
      return pointsOf(frame);
    default:
      return barsOf(frame, colors.accent);
  }
}

const ofSeries = (ends: Stacked[], at: number) => ends.filter((cell) => cell.series === at);

/** The cells from left to right; a gap stays one. */
function inOrder({ places, across }: Frame, cells: Stacked[]): (Stacked & { x: number })[] {
  return cells
    .map((cell) => ({ ...cell, x: across.at(places[cell.place] ?? { name: "", at: 0 }) }))
    .sort((one, other) => one.x - other.x);
}

/** The band around the values of a projection. */
function bandOf({ y }: Frame, along: (Stacked & { x: number })[], color: string): Node[] {
  if (along.every((cell) => !cell.band)) return [];
  const path = area<(typeof along)[number]>(
    (cell) => cell.x,
    (cell) => y(cell.band?.[0] ?? 0),
    (cell) => y(cell.band?.[1] ?? 0),
  ).defined((cell) => cell.band !== undefined);
  return [node("path", { class: "band", d: path.digits(2)(along) ?? "", fill: color, "fill-opacity": 0.2 })];
}

function ringsOf({ y }: Frame, along: (Stacked & { x: number })[], ink: string): Node[] {
  const ringed = along.filter((cell) => cell.ringed && cell.value !== null);
  return ringed.map((cell) =>
    node("circle", {
      class: "ring",
      cx: cell.x,
      cy: y(cell.to),
      r: 7,
      fill: "none",
      stroke: ink,
      "stroke-width": 2,
    }),
  );
}

function lineOf(frame: Frame, { color, dash }: Series, cells: Stacked[], ink: string): Node[] {
  const along = inOrder(frame, cells);
  const path = line<(typeof along)[number]>(
    (cell) => cell.x,
    (cell) => frame.y(cell.to),
  ).defined((cell) => cell.value !== null);
  const drawn = node("path", {
    class: "line",
    d: path.digits(2)(along) ?? "",
    fill: "none",
    stroke: color,
    "stroke-width": 2,
    "stroke-linejoin": "round",
    "stroke-dasharray": dash,
  });
  const alone = (at: number) =>
    (along[at - 1]?.value ?? null) === null && (along[at + 1]?.value ?? null) === null;
  const dots = along.filter((cell, at) => cell.value !== null && (along.length <= FEW_POINTS || alone(at)));
  return [
    ...bandOf(frame, along, color),
    drawn,
    ...dots.map((cell) =>
      node("circle", { class: "dot", cx: cell.x, cy: frame.y(cell.to), r: 2.5, fill: color }),
    ),
    ...ringsOf(frame, along, ink),
  ];
}

function areaOf(frame: Frame, { color, dash }: Series, cells: Stacked[]): Node[] {
  const along = inOrder(frame, cells);
  const path = area<(typeof along)[number]>(
    (cell) => cell.x,
    (cell) => frame.y(cell.from),
    (cell) => frame.y(cell.to),
  ).defined((cell) => cell.value !== null);
  return [
    node("path", { class: "area", d: path.digits(2)(along) ?? "", fill: color, "fill-opacity": 0.45 }),
    node("path", {
      class: "line",
      d: path.lineY1().digits(2)(along) ?? "",
      fill: "none",
      stroke: color,
      "stroke-width": 2,
      "stroke-dasharray": dash,
    }),
  ];
}

/** From five series on, points have a shape for each series. */
function pointsOf({ places, series, ends, across, y }: Frame): Node[] {
  return ends.flatMap((cell) => {
    const place = places[cell.place];
    if (cell.value === null || !place) return [];
    const shape =
      series.length < MANY_SERIES ? symbolsFill[0] : symbolsFill[cell.series % symbolsFill.length];
    return [
      node("path", {
        class: "point",
        d: symbol(shape, 60).digits(2)() ?? "",
        transform: `translate(${across.at(place).toFixed(2)} ${y(cell.to).toFixed(2)})`,
        fill: series[cell.series]?.color,
        "fill-opacity": 0.8,
      }),
    ];
  });
}

function barsOf({ chart, places, series, ends, across, y }: Frame, accent: string): Node[] {
  const grouped = chart.mark === "bar" && series.length > 1;
  const wide = grouped ? across.bar / series.length : across.bar;
  return ends.flatMap((cell) => {
    const place = places[cell.place];
    if (cell.value === null || !place) return [];
    const top = Math.min(y(cell.from), y(cell.to));
    return [
      node("rect", {
        class: "bar",
        x: across.at(place) - across.bar / 2 + (grouped ? wide * cell.series : 0),
        y: top,
        width: Math.max(1, grouped ? wide - 1 : wide),
        height: Math.abs(y(cell.from) - y(cell.to)),
        fill: series[cell.series]?.color ?? accent,
      }),
    ];
  });
}

/** The names of the series beside the ends of their lines, moved apart where they would overlap. */
function directNames(frame: Frame): Node[] {
  const { series, ends, plot, y, chart } = frame;
  const named = series.flatMap((each, at) => {
    const last = inOrder(frame, ofSeries(ends, at)).findLast((cell) => cell.value !== null);
    if (!last) return [];
    const middle = chart.mark === "area" && chart.adds ? (last.from + last.to) / 2 : last.to;
    return [{ ...each, y: y(middle) }];
  });
  named.sort((one, other) => one.y - other.y);
  let free = plot.top + 4;
  for (const name of named) {
    name.y = Math.max(free, name.y);
    free = name.y + LINE_HEIGHT;
  }
  let most = plot.bottom;
  for (const name of [...named].reverse()) {
    name.y = Math.min(most, name.y);
    most = name.y - LINE_HEIGHT;
  }
  return named.map((name) =>
    textNode(cut(name.name, LONGEST_DIRECT), {
      class: "series-name",
      x: plot.right + 8,
      y: name.y + 4,
      fill: name.color,
      "font-weight": 600,
    }),
  );
}

function placeStops(frame: Frame, line: (number | null)[], second: SecondAxis | null): Stop[] {
  const { chart, places, series, ends, across, y, plot } = frame;
  const text = entryText(chart);
  const here = new Map<number, Stacked[]>();
  for (const cell of ends) here.set(cell.place, [...(here.get(cell.place) ?? []), cell]);
  const stops = places.map((place, at) => {
    const x = across.at(place);
    const entries = (here.get(at) ?? []).map((cell) => ({
      name: series[cell.series]?.name ?? "",
      text: cell.band ? `${text(cell.value)} (${cell.band.map(text).join(" – ")})` : text(cell.value),
      color: series[cell.series]?.color ?? "",
      x,
      y: cell.value === null ? plot.bottom : y(cell.to),
    }));
    const other = line[at];
    const last = series.at(-1);
    if (second && last && other !== undefined) {
      const height = other === null ? plot.bottom : second.y(other);
      entries.push({ name: last.name, text: text(other), color: last.color, x, y: height });
    }
    entries.sort((one, another) => one.y - another.y);
    return { x, y: Math.min(plot.bottom, ...entries.map((entry) => entry.y)), name: place.name, entries };
  });
  return stops.filter((stop) => stop.entries.length > 0).sort((one, other) => one.x - other.x);
}

function pointStops({ chart, places, series, ends, across, y }: Frame): Stop[] {
  const text = entryText(chart);
  const stops = ends.flatMap((cell) => {
    const place = places[cell.place];
    if (!place || cell.value === null) return [];
    const x = across.at(place);
    const height = y(cell.to);
    const color = series[cell.series]?.color ?? "";
    const entry = { name: series[cell.series]?.name ?? "", text: text(cell.value), color, x, y: height };
    return [{ x, y: height, name: `${chart.across.title} ${place.name}`, entries: [entry] }];
  });
  return stops.sort((one, other) => one.x - other.x);
}

/** The axis of the line in a chart of bars and a line, at the right. */
interface SecondAxis {
  y: Linear;
  ticks: Label[];
  draw: (across: Across, color: string) => Node[];
}

function secondAxis({ second, series, places }: Plotted, plot: Plot, chart: Chart): SecondAxis | null {
  const last = series.at(-1);
  if (!chart.second || !last || second.length === 0) return null;
  const values = second.filter((value) => value !== null);
  const y = linear(extent(values, true), [plot.bottom, plot.top], 6);
  const ticks = verticalTicks(y, plot.bottom - plot.top, axisNumbers(chart, second, false));
  const draw = (across: Across, color: string) => {
    const along = places
      .map((place, at) => ({ x: across.at(place), value: second[at] ?? null }))
      .sort((one, other) => one.x - other.x);
    const path = line<(typeof along)[number]>(
      (each) => each.x,
      (each) => y(each.value ?? 0),
    ).defined((each) => each.value !== null);
    return [
      node("path", {
        class: "line",
        d: path.digits(2)(along) ?? "",
        fill: "none",
        stroke: last.color,
        "stroke-width": 2.5,
      }),
      ...ticks.map(({ at, text }) =>
        textNode(text, { class: "tick-y", x: plot.right + 8, y: at + 4, fill: color }),
      ),
    ];
  };
  return { y, ticks, draw };
}
