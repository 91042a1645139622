/** Questions suggested by a schema. */
import type { Table, TableColumn } from "../api/types";
import { starterTexts } from "./starter_texts";
import { inEnglish, type Starters } from "./starter_words";

const MOST = 4;
const FEW = 12;
const MANY = 30;
const AMOUNTS = [/amount|total|revenue|sales/i, /price|quantity|cost|salary|balance|score/i];

/** Questions of a person and of the schema. The built-in writer reads English only. */
export function suggested(tables: Table[], own: readonly string[], byModel: boolean | null): string[] {
  return withOwn(own, starters(tables, byModel === false ? inEnglish : starterTexts));
}

/** Up to four, the most telling first; none for an empty schema. */
export function starters(tables: Table[], say: Starters): string[] {
  const known = tables.filter((each) => each.kind === "table");
  const big = [...known].sort((one, other) => (other.row_count ?? 0) - (one.row_count ?? 0));
  const questions = [
    perGroup(known, say),
    total(big, say),
    perMonth(big, say),
    howMany(known, say),
    howMany(big, say),
  ];
  return [...new Set(questions.filter((each) => each !== null))].slice(0, MOST);
}

/** The questions that a person wrote, and generated ones for the places that they leave. */
export function withOwn(own: readonly string[], generated: readonly string[]): string[] {
  return [...new Set([...own, ...generated])].slice(0, Math.max(MOST, own.length));
}

/** A question by a column with few values shared by many rows, such as a country: gives a chart. */
function perGroup(tables: Table[], say: Starters): string | null {
  for (const most of [FEW, MANY]) {
    for (const table of tables) {
      const group = table.columns.find((each) => isGroup(each, table, most));
      if (group) return say.perGroup(words(table.name), words(group.name));
    }
  }
  return null;
}

function isGroup({ type, values }: TableColumn, table: Table, most: number): boolean {
  const { length } = values;
  return type === "text" && length > 2 && length <= most && length * 2 <= (table.row_count ?? 0);
}

function total(tables: Table[], say: Starters): string | null {
  for (const amount of AMOUNTS) {
    for (const table of tables) {
      const measure = table.columns.find((each) => isNumber(each) && amount.test(each.name));
      if (measure) return say.total(words(measure.name), words(table.name));
    }
  }
  return null;
}

function isNumber(column: TableColumn): boolean {
  return column.type === "number" || column.type === "integer";
}

function perMonth(tables: Table[], say: Starters): string | null {
  const dated = tables.find((table) => table.columns.some((each) => isDate(each)));
  return dated ? say.perMonth(words(dated.name)) : null;
}

function isDate(column: TableColumn): boolean {
  return column.type === "date" || column.type === "datetime";
}

function howMany(tables: Table[], say: Starters): string | null {
  const first = tables[0];
  return first ? say.howMany(words(first.name)) : null;
}

function words(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/_/g, " ")
    .toLowerCase();
}
