/** Questions suggested by a schema, in words that the built-in writer understands, too. */
import type { Table, TableColumn } from "../api/types";

const MOST = 4;
const FEW = 12;
const MANY = 30;
const AMOUNTS = [/amount|total|revenue|sales/i, /price|quantity|cost|salary|balance|score/i];

/** Up to four, the most telling first; none for an empty schema. */
export function starters(tables: Table[]): string[] {
  const known = tables.filter((each) => each.kind === "table");
  const big = [...known].sort((one, other) => (other.row_count ?? 0) - (one.row_count ?? 0));
  const questions = [perGroup(known), total(big), perMonth(big), howMany(known), howMany(big)];
  return [...new Set(questions.filter((each) => each !== null))].slice(0, MOST);
}

/** The questions that a person wrote, and generated ones for the places that they leave. */
export function withOwn(own: readonly string[], generated: readonly string[]): string[] {
  return [...new Set([...own, ...generated])].slice(0, Math.max(MOST, own.length));
}

/** A question by a column with few values shared by many rows, such as a country: gives a chart. */
function perGroup(tables: Table[]): string | null {
  for (const most of [FEW, MANY]) {
    for (const table of tables) {
      const group = table.columns.find((each) => isGroup(each, table, most));
      if (group) return `How many ${several(table.name)} per ${words(group.name)}?`;
    }
  }
  return null;
}

function isGroup({ type, values }: TableColumn, table: Table, most: number): boolean {
  const { length } = values;
  return type === "text" && length > 2 && length <= most && length * 2 <= (table.row_count ?? 0);
}

function total(tables: Table[]): string | null {
  for (const amount of AMOUNTS) {
    for (const table of tables) {
      const measure = table.columns.find((each) => isNumber(each) && amount.test(each.name));
      if (measure) return `What is the ${summaryOf(words(measure.name))} of ${several(table.name)}?`;
    }
  }
  return null;
}

function isNumber(column: TableColumn): boolean {
  return column.type === "number" || column.type === "integer";
}

function perMonth(tables: Table[]): string | null {
  const dated = tables.find((table) => table.columns.some((each) => isDate(each)));
  return dated ? `Number of ${several(dated.name)} per month` : null;
}

function isDate(column: TableColumn): boolean {
  return column.type === "date" || column.type === "datetime";
}

function howMany(tables: Table[]): string | null {
  const first = tables[0];
  return first ? `How many ${several(first.name)} are there?` : null;
}

function summaryOf(measure: string): string {
  return `${measure.startsWith("total") ? "average" : "total"} ${measure}`;
}

/** The name of a table as a plural: many databases name a table after one of its rows. */
function several(table: string): string {
  const name = words(table);
  if (/([^s]s|people|children|data|media|staff)$/.test(name)) return name;
  return `${name.replace(/([^aeiou])y$/, "$1ie").replace(/(ss|x|z|ch|sh)$/, "$1e")}s`;
}

function words(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/_/g, " ")
    .toLowerCase();
}
