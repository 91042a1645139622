/** Suggested questions in English, in words that the built-in writer understands, too. */
export const inEnglish = {
  perGroup: (table: string, group: string) => `How many ${several(table)} per ${group}?`,
  total: (measure: string, table: string) =>
    `What is the ${measure.startsWith("total") ? "average" : "total"} ${measure} of ${several(table)}?`,
  perMonth: (table: string) => `Number of ${several(table)} per month`,
  howMany: (table: string) => `How many ${several(table)} are there?`,
};

/** Names of tables and columns are words in lower case. */
export type Starters = typeof inEnglish;

/** The name of a table as a plural: many databases name a table after one of its rows. */
function several(name: string): string {
  if (/([^s]s|people|children|data|media|staff)$/.test(name)) return name;
  return `${name.replace(/([^aeiou])y$/, "$1ie").replace(/(ss|x|z|ch|sh)$/, "$1e")}s`;
}
