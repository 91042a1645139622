/** A chart's style, in the colours and fonts of the page. */
import type { Config } from "vega-lite";

export interface ChartColors {
  ink: string;
  muted: string;
  line: string;
  accent: string;
  surface: string;
}

// Distinguishable also with red-green colour blindness (after Okabe and Ito).
const SERIES = ["#0f8b8d", "#e08e0b", "#5b6ee1", "#c8553d", "#7a9e3f", "#a05195", "#3d87c2", "#8c7356"];

export function lookOf({ ink, muted, line, accent, surface }: ChartColors): Config {
  const text = { labelColor: muted, titleColor: muted, labelFont: FONT, titleFont: FONT };
  return {
    background: surface,
    font: FONT,
    view: { stroke: null },
    axis: {
      ...text,
      domainColor: line,
      gridColor: line,
      tickColor: line,
      labelFontSize: 12,
      titleFontSize: 12,
      titleFontWeight: 500,
      titlePadding: 10,
    },
    axisBand: { grid: false, ticks: false, domain: false, labelPadding: 8, labelColor: ink },
    legend: { ...text, orient: "bottom", titleFontWeight: 500 },
    mark: { color: accent },
    range: { category: [accent, ...SERIES.slice(1)] },
  };
}

const FONT = "Inter Variable, system-ui, sans-serif";

/** The colours of the current theme, for a drawing that style sheets do not reach. */
export function colorsOf(element: Element): ChartColors {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: color("--chart-ink"),
    muted: color("--chart-muted"),
    line: color("--chart-line"),
    accent: color("--chart-accent"),
    surface: color("--chart-surface"),
  };
}
