/** Questions that a schema suggests, in words that also the built-in writer understands. */
import type { Table, TableColumn } from "../api/types";

const MOST = 4;
const AMOUNT = /amount|total|revenue|price|sales|quantity|cost|salary|balance|score/i;

/** Up to four, the most telling first; none for an empty schema. */
export function starters(tables: Table[]): string[] {
  const known = tables.filter((each) => each.kind === "table");
  const big = [...known].sort((one, other) => (other.row_count ?? 0) - (one.row_count ?? 0));
  const questions = [perGroup(known), total(big), perMonth(big), howMany(known), howMany(big)];
  return [...new Set(questions.filter((each) => each !== null))].slice(0, MOST);
}

/** Few values that each stand for many rows, such as a country: a question with a picture. */
function perGroup(tables: Table[]): string | null {
  for (const table of tables) {
    const group = table.columns.find((each) => isGroup(each, table));
    if (group) return `How many ${words(table.name)} per ${words(group.name)}?`;
  }
  return null;
}

function isGroup(column: TableColumn, table: Table): boolean {
  const values = column.values?.length ?? 0;
  return column.type === "text" && values > 1 && values <= 30 && values * 2 <= (table.row_count ?? 0);
}

function total(tables: Table[]): string | null {
  for (const table of tables) {
    const measure = table.columns.find((each) => isMeasure(each));
    if (measure) return `What is the total ${words(measure.name)} of ${words(table.name)}?`;
  }
  return null;
}

function isMeasure(column: TableColumn): boolean {
  return (column.type === "number" || column.type === "integer") && AMOUNT.test(column.name);
}

function perMonth(tables: Table[]): string | null {
  const dated = tables.find((table) => table.columns.some((each) => isDate(each)));
  return dated ? `Number of ${words(dated.name)} per month` : null;
}

function isDate(column: TableColumn): boolean {
  return column.type === "date" || column.type === "datetime";
}

function howMany(tables: Table[]): string | null {
  const first = tables[0];
  return first ? `How many ${words(first.name)} are there?` : null;
}

function words(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/_/g, " ")
    .toLowerCase();
}
