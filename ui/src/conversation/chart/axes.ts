/** Axes whose labels never overlap. */
import { cut, FONT_SIZE, textWidth } from "./letters";
import { type Node, node } from "./nodes";
import { type Numbers, tickFormat, timeTickFormat } from "./numbers";
import type { Bands, Linear, Time } from "./scales";

/** A label at a tick; `at` is its centre, which may be moved to stay within the drawing. */
export interface Label {
  tick: number;
  at: number;
  text: string;
}

/** `whole` numbers have no ticks between them: there is no fifth of a customer. */
export interface AxisNumbers extends Numbers {
  whole?: boolean;
}

const GAP = 10;
const LONGEST_NAME = 120;
const SHORTEST_NAME = 80;
const ROOM = 48;

/** Ticks of a vertical axis of numbers. */
export function verticalTicks(scale: Linear, height: number, numbers: AxisNumbers): Label[] {
  return numberTicks(scale, Math.max(2, Math.floor(height / ROOM)), numbers);
}

/** Ticks of a horizontal axis of numbers: as many as fit between the edges. */
export function horizontalTicks(scale: Linear, edges: [number, number], numbers: AxisNumbers): Label[] {
  return mostThatFit(8, (most) => numberTicks(scale, most, numbers), edges);
}

/** Ticks of a time axis: as many as fit between the edges. */
export function timeTicks(scale: Time, edges: [number, number]): Label[] {
  const [from, to] = scale.domain;
  return mostThatFit(
    10,
    (most) => {
      const ticks = scale.ticks(most);
      const text = timeTickFormat(ticks, [from.getTime(), to.getTime()]);
      return ticks.map((tick) => ({ tick: scale(tick), at: scale(tick), text: text(tick) }));
    },
    edges,
  );
}

/** Labels of places beside each other: every one, or every second, third, … */
export function placeTicks(scale: Bands, names: string[], edges: [number, number]): Label[] {
  for (let every = 1; every < names.length; every++) {
    const room = Math.min(LONGEST_NAME, Math.max(SHORTEST_NAME, every * scale.step - GAP));
    const labels = names.flatMap((name, at) => {
      const centre = (scale(at) ?? 0) + scale.width / 2;
      return at % every === 0 ? [{ tick: centre, at: centre, text: cut(name, room) }] : [];
    });
    const placed = within(labels, edges);
    if (areClear(placed)) return placed;
  }
  const centre = (scale(0) ?? 0) + scale.width / 2;
  return within([{ tick: centre, at: centre, text: cut(names[0] ?? "", LONGEST_NAME) }], edges);
}

/** The labels below a drawing. */
export function labelsBelow(labels: Label[], y: number, color: string): Node[] {
  return labels.map(({ at, text }) =>
    textNode(text, { x: at, y: y + 18, fill: color, "text-anchor": "middle" }),
  );
}

export function textNode(text: string, attributes: Record<string, string | number | undefined>): Node {
  return node("text", { "font-size": FONT_SIZE, ...attributes }, text);
}

function numberTicks(scale: Linear, most: number, numbers: AxisNumbers): Label[] {
  const ticks = scale.ticks(most).filter((tick) => !numbers.whole || Number.isInteger(tick));
  const text = tickFormat(ticks, numbers);
  return ticks.map((tick) => ({ tick: scale(tick), at: scale(tick), text: text(tick) }));
}

function mostThatFit(most: number, ticks: (most: number) => Label[], edges: [number, number]): Label[] {
  for (let wanted = most; wanted > 1; wanted--) {
    const placed = within(ticks(wanted), edges);
    if (placed.length > 0 && areClear(placed)) return placed;
  }
  return within(ticks(1).slice(0, 1), edges);
}

function within(labels: Label[], [from, to]: [number, number]): Label[] {
  return labels.map((label) => {
    const half = textWidth(label.text) / 2;
    return { ...label, at: Math.max(from + half, Math.min(to - half, label.at)) };
  });
}

function areClear(labels: Label[]): boolean {
  return labels.every(({ at, text }, index) => {
    const next = labels[index + 1];
    return !next || at + textWidth(text) / 2 + GAP <= next.at - textWidth(next.text) / 2;
  });
}
