/** A chart's colours, those of the page by value: style sheets do not reach files. */
export interface ChartColors {
  ink: string;
  muted: string;
  line: string;
  accent: string;
  surface: string;
}

/** The colours of the current theme. */
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
