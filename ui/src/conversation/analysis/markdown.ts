/** A model's Markdown, which is not trusted, as a tree of elements from a fixed list; no HTML is ever made. */
import { Lexer, type Token, type Tokens } from "marked";
import { decoded } from "./entities";
import { type Statement, withStatements } from "./statements";

/** An element, or text. */
export type Part = string | Element;

export interface Element {
  tag: Tag;
  attributes?: Record<string, string | number>;
  children: Part[];
}

type Tag =
  | ("blockquote" | "br" | "code" | "del" | "em" | "hr" | "li" | "ol" | "p" | "pre" | "span")
  | ("strong" | "ul" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
  | ("table" | "tbody" | "td" | "th" | "thead" | "tr");

const HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"] as const;
const WEB_ADDRESS = /^https?:\/\//i;

/** The statements become spans, see `withStatements`. */
export function partsOf(markdown: string, statements: readonly Statement[] = []): Part[] {
  return withStatements(markdown, statements, parsed);
}

function parsed(markdown: string): Part[] {
  try {
    return blocks(new Lexer({ gfm: true }).lex(markdown));
  } catch {
    return [markdown]; // nested too deeply to be parsed
  }
}

function blocks(tokens: Token[] = []): Part[] {
  return tokens.flatMap((token) => blockOf(token as Tokens.Generic));
}

function blockOf(token: Tokens.Generic): Part[] {
  switch (token.type) {
    case "space":
    case "def":
      return [];
    case "heading":
      return [element(HEADINGS[(token as Tokens.Heading).depth - 1] ?? "h6", inlines(token.tokens))];
    case "paragraph":
      return [paragraphOf(inlines(token.tokens))];
    case "blockquote":
      return [element("blockquote", blocks(token.tokens))];
    case "code":
      return [element("pre", [element("code", [`${(token as Tokens.Code).text}\n`])])];
    case "hr":
      return [element("hr", [])];
    case "list":
      return [listOf(token as Tokens.List)];
    case "table":
      return [tableOf(token as Tokens.Table)];
    default:
      return [inlineOf(token)].flat();
  }
}

/** The sentence of a model begins with its name in emphasis, such as "*Reading:*". */
function paragraphOf(children: Part[]): Element {
  const [first] = children;
  const isReading = typeof first === "object" && first.tag === "em" && textOf(first.children).endsWith(":");
  return element("p", children, isReading ? { class: "model-reading" } : undefined);
}

function listOf({ ordered, start, items }: Tokens.List): Element {
  const children = items.map((item) => element("li", blocks(item.tokens)));
  if (!ordered) return element("ul", children);
  return element("ol", children, typeof start === "number" && start !== 1 ? { start } : undefined);
}

function tableOf({ header, rows }: Tokens.Table): Element {
  const row = (cells: Tokens.TableCell[], tag: "th" | "td") =>
    element(
      "tr",
      cells.map((cell) => element(tag, inlines(cell.tokens))),
    );
  const body = rows.map((cells) => row(cells, "td"));
  return element("table", [element("thead", [row(header, "th")]), element("tbody", body)]);
}

function inlines(tokens: Token[] = []): Part[] {
  return tokens.flatMap((token) => inlineOf(token as Tokens.Generic));
}

/** Raw HTML, images and whatever is not known become the text they were written as. */
function inlineOf(token: Tokens.Generic): Part | Part[] {
  switch (token.type) {
    case "strong":
    case "em":
    case "del":
      return element(token.type, inlines(token.tokens));
    case "br":
      return element("br", []);
    case "codespan":
      return element("code", [(token as Tokens.Codespan).text]);
    case "link":
      return linkOf(token as Tokens.Link);
    case "image":
      return (token as Tokens.Image).text;
    case "escape":
      return (token as Tokens.Escape).text;
    case "text":
      return token.tokens ? inlines(token.tokens) : decoded((token as Tokens.Text).text);
    default:
      return token.raw;
  }
}

/** Its words, and the address as text: an address can carry what the model has read, so none is a link. */
function linkOf({ href, tokens }: Tokens.Link): Part[] {
  const children = inlines(tokens);
  const address = decoded(href);
  if (!WEB_ADDRESS.test(address) || textOf(children) === address) return children;
  return [...children, ` (${address})`];
}

function element(tag: Tag, children: Part[], attributes?: Element["attributes"]): Element {
  return attributes ? { tag, attributes, children } : { tag, children };
}

function textOf(parts: Part[]): string {
  return parts.map((part) => (typeof part === "string" ? part : textOf(part.children))).join("");
}
