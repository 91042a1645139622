/** The arguments of a call as fields of a form, after the schema of its tool. */
import type { ToolCall } from "../model";

export interface ArgumentField {
  name: string;
  kind: "text" | "number" | "switch" | "json" | "choice";
  /** Of a `choice`: what may be chosen. */
  choices: string[];
  /** Left empty, the argument is left out. */
  optional: boolean;
  /** As the call has it, in the form of its field. */
  before: string;
}

/** An argument whose text is no JSON, by its name. */
export class NotJson extends Error {}

type Schema = Record<string, unknown>;

/** The arguments of the call, then those of its tool that the call has left out. Without a schema, the values
 * say what they are. */
export function fieldsOf(call: ToolCall, schema: Schema | null): ArgumentField[] {
  const properties = (schema?.["properties"] ?? {}) as Record<string, Schema>;
  const required = (schema?.["required"] ?? Object.keys(call.arguments)) as string[];
  const names = new Set([...Object.keys(call.arguments), ...Object.keys(properties)]);
  return [...names].map((name) => {
    const value = call.arguments[name];
    const choices = choicesOf(properties[name]);
    const kind = kindOf(value, properties[name], choices);
    return { name, kind, choices, optional: !required.includes(name), before: textOf(value, kind) };
  });
}

/** All arguments as the form has them; those that were not touched as the call has them. Throws `NotJson`. */
export function argumentsFrom(
  fields: ArgumentField[],
  typed: Readonly<Record<string, string>>,
  call: ToolCall,
): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const field of fields) {
    const { name, optional, before } = field;
    const text = typed[name] ?? before;
    if (text === before) {
      if (name in call.arguments) given[name] = call.arguments[name];
    } else if (text !== "" || !optional) given[name] = valueOf(text, field);
  }
  return given;
}

function kindOf(value: unknown, schema: Schema | undefined, choices: string[]): ArgumentField["kind"] {
  if (choices.length > 0 && (isAbsent(value) || choices.includes(value as string))) return "choice";
  const types = isAbsent(value) ? typesOf(schema) : [typeOf(value)];
  if (types.length !== 1) return isAbsent(value) && types.length === 0 ? "text" : "json";
  const kinds = { string: "text", number: "number", integer: "number", boolean: "switch" } as const;
  return kinds[types[0] as keyof typeof kinds] ?? "json";
}

const isAbsent = (value: unknown) => value === null || value === undefined;

function typeOf(value: unknown): string {
  return typeof value === "object" ? "json" : typeof value;
}

/** The types of a schema, without null. */
function typesOf(schema: Schema | undefined): unknown[] {
  return [...new Set(kindsIn(schema).flatMap(({ type }) => type ?? []))].filter((each) => each !== "null");
}

function choicesOf(schema: Schema | undefined): string[] {
  const choices = kindsIn(schema).flatMap((each) => (each["enum"] as unknown[] | undefined) ?? []);
  return choices.every((each) => typeof each === "string") ? choices : [];
}

function kindsIn(schema: Schema | undefined): Schema[] {
  return (schema?.["anyOf"] as Schema[] | undefined) ?? (schema === undefined ? [] : [schema]);
}

function textOf(value: unknown, kind: ArgumentField["kind"]): string {
  if (isAbsent(value)) return "";
  return typeof value === "string" && kind !== "json" ? value : JSON.stringify(value, null, 2);
}

/** A number that cannot be read is sent as it was typed: the server says what is wrong with it. */
function valueOf(text: string, { name, kind }: ArgumentField): unknown {
  if (kind === "switch") return text === "true";
  if (kind === "number") return text.trim() === "" || Number.isNaN(Number(text)) ? text : Number(text);
  if (kind !== "json") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new NotJson(name);
  }
}
