/** Words of a board's period. */
export const periodTexts = {
  name: "Period",
  all: "all dates",
  last: (days: number) => (days === 365 ? "last year" : `last ${days} days`),
  by: (days: string, column: string) => `${days} by ${column}`,
  noRows: "No rows in this period.",
  empty: "No rows.",
  none: "Not by this period",
  of: (title: string) => `Period of ${title}`,
  change: (percent: string, days: number) => `${percent} / ${days} d`,
  was: (value: string, days: number) => `${value} in the ${days} days before`,
  whole: "Whole days that are over, by UTC. Only rows of these days were read.",
  choose: "Restrict by",
  found: "what the statement names",
  save: "Save",
};
