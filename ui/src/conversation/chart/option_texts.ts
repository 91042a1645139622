/** Texts of the computed options, fetched with the chart. */
export const optionTexts = {
  name: "Compute",
  none: "Nothing",
  kinds: {
    moving_average: "Moving average",
    change: "Change per period",
    outliers: "Outliers",
    projection: "Projection",
  },
  window: "Periods",
  windowHint: "auto",
};
