/** A call in words. */
import { texts } from "../../shared/texts";
import type { ToolCall } from "../model";

const TOOLS: Readonly<Record<string, string>> = texts.investigation.tools;

/** The tool in plain words; one that the page does not know by its own name. */
export function toolName(call: ToolCall): string {
  return TOOLS[call.name] ?? call.name;
}

/** Whether the call runs a statement, which is shown as SQL. */
export function isStatement(call: ToolCall): boolean {
  return (call.name === "run_sql" || isOfAnswer(call)) && typeof call.arguments["sql"] === "string";
}

/** Whether the call runs the statement of an answer, where it would read much. No model has called it, and it
 * cannot be edited. */
export function isOfAnswer(call: ToolCall): boolean {
  return call.name === "run_statement";
}

/** The arguments in one line; of a statement its purpose, or its beginning if the model gave none. */
export function aboutCall(call: ToolCall): string {
  const { purpose, sql } = call.arguments;
  if (isStatement(call)) return wordsOf(purpose) || wordsOf(sql).replace(/\s+/g, " ");
  return argumentsOf(call)
    .map(([name, value]) => `${name}: ${wordsOf(value)}`)
    .join(" · ");
}

/** The arguments that were given, without a statement. */
export function argumentsOf(call: ToolCall): [string, unknown][] {
  const isShown = (name: string) => !(name === "sql" && isStatement(call));
  return Object.entries(call.arguments).filter(
    ([name, value]) => isShown(name) && value !== null && value !== "",
  );
}

export function wordsOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(wordsOf).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
