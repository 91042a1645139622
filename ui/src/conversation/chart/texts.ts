/** Texts of charts, fetched with them. */
import type { TimeUnit } from "./intent";

export const chartTexts = {
  type: "Chart type",
  marks: {
    bar: "Bars",
    stacked: "Stacked bars",
    percent: "100 % bars",
    line: "Line",
    area: "Area",
    point: "Points",
    arc: "Pie",
    histogram: "Histogram",
    heat: "Heat map",
    combo: "Bars and line",
  },
  x: "Across",
  y: "Value",
  series: "Colour",
  noSeries: "None",
  drawing: "Drawing the chart …",
  failed: "This chart cannot be drawn. The table has the numbers.",
  allDrawn: (rows: string) => `${rows}, all drawn`,
  drawnAs: (rows: string, points: string) =>
    `${rows}, drawn as ${points === "1" ? "1 point" : `${points} points`}`,
  how: "Put together by",
  aggregates: { none: "as they are", sum: "sum", mean: "mean", count: "count", median: "median" },
  second: "Second value",
  more: "More choices",
  sort: "Order",
  sorts: { rows: "As in the table", value: "By value", name: "By name", natural: "Natural" },
  time: "Time unit",
  times: { day: "Day", week: "Week", month: "Month", quarter: "Quarter", year: "Year" },
  asIs: "As it is",
  format: "Numbers",
  formats: { auto: "Automatic", plain: "In full", compact: "Short", percent: "Percent" },
  unit: "Unit",
  unitHint: "EUR",
  title: "Title",
  reset: "Reset",
  save: "Save the chart",
  saveAs: { png: "As a PNG file", svg: "As an SVG file" },
  rowsTitle: "rows",
  measures: "value",
  binned: (column: string) => `Each bar counts the rows with a ${column} in its range.`,
  distribution: (column: string) => `Distribution of ${column}`,
  heading: (value: string, by: string[]) => {
    const text = `${value} by ${by.join(" and ")}`;
    return text.charAt(0).toUpperCase() + text.slice(1);
  },
  together: (how: "sum" | "mean" | "count" | "median", place: string, time?: TimeUnit) =>
    `Each point is the ${how} of the rows of one ${time ? `${time} of ${place}` : place}.`,
  begins: (unit: TimeUnit, day: string) => `The first ${unit} has data from ${day} on only.`,
  ends: (unit: TimeUnit, day: string) => `The last ${unit} has data up to ${day} only.`,
  running: (unit: TimeUnit, day: string) => `The last ${unit} is not over: its data goes up to ${day}.`,
  noParts: "Bars beside each other, as the values are not parts of a whole.",
  thinned: (every: string) => `One in ${every} points is shown.`,
  other: (names: string) => `Other (${names})`,
  leaders: (names: string, column: string, kept: string, other: string | null) =>
    `Of ${names} values of ${column}, the ${kept} highest are shown; ${
      other ? `the others are added up as ${other}` : "the others are left out"
    }.`,
  several: (place: string) => `Several values have the same ${place}: each is a point.`,
  label: (value: string, category: string, how: string) =>
    [`Chart of ${value} by ${category}.`, how].filter(Boolean).join(" "),
  keys: "Values of the chart: arrow keys move from one to the next",
  legend: "Series: press to hide or show one",
  unknown: "unknown",
  days: ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"],
  months: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
  dayOfMonth: (day: number, month: string) => `${day} ${month}`,
  extreme: (value: string, where: string) => (where ? `${value} (${where})` : value),
  summary: (lowest: string, highest: string) => `Lowest ${lowest}, highest ${highest}.`,
  rises: "It rises.",
  falls: "It falls.",
  level: "It stays about level.",
} as const;
