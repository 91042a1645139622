/** The parts of a drawing, which every kind of mark has. */
import type { AxisNumbers } from "./axes";
import type { Chart } from "./intent";
import type { ChartColors } from "./look";
import type { Node } from "./nodes";
import { valueFormat } from "./numbers";
import type { Series } from "./plotted";

/** What the tooltip says of a series at a stop, and where. */
export interface Entry {
  name: string;
  text: string;
  color: string;
  x: number;
  y: number;
}

/** A place that the pointer and the arrow keys can be at. */
export interface Stop {
  x: number;
  y: number;
  name: string;
  entries: Entry[];
}

export interface Plot {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Scene {
  width: number;
  height: number;
  nodes: Node[];
  /** Those of the axis below, which stays in view where the rest scrolls. */
  foot?: Node[];
  stops: Stop[];
  /** The direction in which the nearest stop is sought: along x, along y, or both. */
  along: "x" | "y" | "both";
  plot: Plot;
  /** Empty where the series are named in the drawing itself. */
  legend: Series[];
}

/** A size, what is hidden, and whether series may be named beside their lines. */
export interface Setting {
  width: number;
  height: number;
  colors: ChartColors;
  hidden: ReadonlySet<string>;
  direct: boolean;
}

/** Numbers as the axis of values writes them: of parts of a whole as percentages. */
export function axisNumbers({ numbers }: Chart, values: (number | null)[], share: boolean): AxisNumbers {
  if (share) return { ...numbers, format: "percent" };
  return { ...numbers, whole: values.every((value) => value === null || Number.isInteger(value)) };
}

/** The values of a chart as the tooltip writes them. */
export function entryText(chart: Chart): (value: number | null) => string {
  const format = valueFormat(chart.numbers);
  return (value) => (value === null ? "–" : format(value));
}
