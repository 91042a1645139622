/** Elements of a drawing as plain data, which the page shows and files hold. */
import { type ComponentChild, createElement } from "preact";

export interface Node {
  tag: string;
  attributes: Record<string, string | number>;
  children: (Node | string)[];
}

export function node(
  tag: string,
  attributes: Record<string, string | number | undefined>,
  ...children: (Node | string)[]
): Node {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== "");
  const rounded = given.map(([name, value]) => [name, typeof value === "number" ? round(value) : value]);
  return { tag, attributes: Object.fromEntries(rounded) as Node["attributes"], children };
}

/** Coordinates to a hundredth of a pixel, so that drawings are the same on every machine. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

export function shown({ tag, attributes, children }: Node, key?: number): ComponentChild {
  const inner = children.map((child, at) => (typeof child === "string" ? child : shown(child, at)));
  return createElement(tag, { ...attributes, key }, ...inner);
}

export function written({ tag, attributes, children }: Node): string {
  const named = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(String(value))}"`);
  const inner = children.map((child) => (typeof child === "string" ? escaped(child) : written(child)));
  return `<${tag}${named.join("")}>${inner.join("")}</${tag}>`;
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  // XML allows no control characters, not even escaped ones.
  return text.replace(/\p{Cc}/gu, " ").replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign);
}
