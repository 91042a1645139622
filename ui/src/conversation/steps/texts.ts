/** Texts of the steps of an answer, fetched with them. */
import type { Step } from "../../api/types";
import { count } from "../../shared/time";

const counted = (number: number, one: string, more: string) =>
  number === 1 ? `1 ${one}` : `${count(number)} ${more}`;

export const stepTexts = {
  names: {
    waiting: "Wait to begin",
    loading_context: "Read the context",
    generating_sql: "Write SQL",
    repairing_sql: "Repair the SQL",
    executing_sql: "Run the query",
    analyzing: "Read the rows",
    summarizing: "Remember the conversation",
    investigating: "Investigate",
    using_tool: "Use a tool",
    waiting_for_approval: "Wait for your approval",
    saving: "Save",
  } satisfies Record<Step, string>,
  failedStatement: "This statement had to be repaired",
  failedStep: "What went wrong",
  tables: (number: number) => counted(number, "table", "tables"),
  terms: (number: number) => counted(number, "term of the glossary", "terms of the glossary"),
  instructions: (number: number) => counted(number, "instruction", "instructions"),
  examples: (number: number) => counted(number, "verified example", "verified examples"),
  facts: (number: number) => counted(number, "remembered fact", "remembered facts"),
  columns: (number: number) => counted(number, "column", "columns"),
};
