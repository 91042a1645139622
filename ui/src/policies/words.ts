/** Policies and attributes as people write them in forms. */
import type { Policy } from "./policies_api";

/** A list of texts, separated by commas. */
export function listOf(text: string): string[] {
  return text.split(",").flatMap((each) => each.trim() || []);
}

/** Conditions that must all hold, as one. */
export function joinConditions(conditions: string[]): string {
  return conditions.length > 1 ? conditions.map((each) => `(${each})`).join(" AND ") : conditions.join();
}

/** Texts of lines, without empty ones. */
export function linesOf(text: string): string[] {
  return text.split("\n").flatMap((each) => each.trim() || []);
}

/** Conditions as lines: a further line of one begins with a blank. */
export function linesOfConditions(conditions: string[]): string {
  return conditions.map((each) => each.replaceAll("\n", "\n ")).join("\n");
}

/** The conditions of lines, without empty ones. */
export function conditionsOf(text: string): string[] {
  return text.split(/\n(?! )/).flatMap((each) => each.replaceAll("\n ", "\n").trim() || []);
}

/** Attributes of lines `name=value`; a repeated name has several values. Null for a line of another form. */
export function attributesOf(text: string): Record<string, string | string[]> | null {
  const found = new Map<string, string[]>();
  for (const line of linesOf(text)) {
    const at = line.indexOf("=");
    const name = line.slice(0, at).trim();
    if (at < 1 || name === "") return null;
    found.set(name, [...(found.get(name) ?? []), line.slice(at + 1).trim()]);
  }
  return Object.fromEntries(
    [...found].map(([name, [first = "", ...more]]) => [name, more.length ? [first, ...more] : first]),
  );
}

/** Attributes of a policy's `when` as lines. */
export function linesOfAttributes(when: Policy["when"]): string {
  return Object.entries(when ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
}

/** The value that a line means where it stands for the text of one that is stored: numbers and flags stay. */
export function whenOf(text: string, before: Policy["when"]): Policy["when"] | null {
  const read = attributesOf(text);
  if (read === null) return null;
  const entries = Object.entries(read);
  if (entries.some(([, value]) => Array.isArray(value))) return null;
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const stored = before?.[name];
      return [name, String(stored) === value && stored !== undefined ? stored : (value as string)];
    }),
  );
}
