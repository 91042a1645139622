/** Texts of charts, fetched with them. */
export const chartTexts = {
  failed: "This chart cannot be drawn. The table has the numbers.",
  none: "No chart is proposed for these rows. Choose one.",
  unnamed: "Chart",
  allDrawn: (rows: string) => `${rows}, all drawn`,
  drawnAs: (rows: string, points: string) =>
    `${rows}, drawn as ${points === "1" ? "1 point" : `${points} points`}`,
  change: "Change the chart",
  changeIt: "Change",
  save: "Save the chart",
  saveIt: "Save",
  saveAs: { png: "As a PNG file", svg: "As an SVG file", json: "As a Vega-Lite specification (JSON)" },
  keys: "Values of the chart: arrow keys move from one to the next",
  legend: "Series: press to hide or show one",
} as const;
