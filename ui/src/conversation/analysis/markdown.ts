/** Renders a model's Markdown, which is not trusted, as markup without active content. */
import DOMPurify, { type Config } from "dompurify";
import { Marked } from "marked";
import type { Claim } from "../../api/types";
import { markOf, withMarks } from "./claim_marks";

const TAGS = [
  ...["a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "strong", "ul"],
  ...["h1", "h2", "h3", "h4", "h5", "h6", "table", "tbody", "td", "th", "thead", "tr"],
];
const HARMLESS: Config = {
  ALLOWED_TAGS: TAGS,
  ALLOWED_ATTR: ["href", "start"],
  ALLOWED_URI_REGEXP: /^https?:\/\//i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

// Raw HTML and images of any style become the text they were written as.
const marked = new Marked({
  gfm: true,
  async: false,
  renderer: {
    html: ({ raw }) => escaped(raw),
    image: ({ text }) => escaped(text),
  },
});

const purify = DOMPurify(window);
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

/** The claims become elements with the class `claim` and their index as `data-claim`. */
export function safeMarkup(markdown: string, claims: readonly Claim[] = []): string {
  if (claims.length === 0) return purify.sanitize(parsed(markdown), HARMLESS);
  const html = parsed(withMarks(markdown, claims, parsed));
  const fragment = purify.sanitize(html, { ...HARMLESS, RETURN_DOM_FRAGMENT: true });
  wrapClaims(fragment, claims);
  const holder = document.createElement("div");
  holder.append(fragment);
  return holder.innerHTML;
}

const parsed = (markdown: string) => marked.parse(markdown) as string;

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Replaces the marks by elements, made from text that is already sanitised. */
function wrapClaims(fragment: DocumentFragment, claims: readonly Claim[]): void {
  const open: number[] = [];
  const begun = new Set<number>();
  for (const node of textsOf(fragment)) {
    const parts: Node[] = [];
    let text = "";
    const close = () => {
      if (text) parts.push(partOf(text, open.at(-1), node));
      text = "";
    };
    for (const character of node.data) {
      const mark = markOf(character);
      if (mark === null) {
        text += character;
        continue;
      }
      close();
      if (mark.starts) open.push(mark.index);
      else open.splice(open.lastIndexOf(mark.index), 1);
    }
    close();
    node.replaceWith(...parts);
  }

  function partOf(text: string, index: number | undefined, node: Text): Node {
    const claim = index === undefined ? undefined : claims[index];
    if (claim === undefined || (claim.status === "checked" && claim.from === null)) return new Text(text);
    const part = document.createElement("span");
    part.className = `claim ${claim.status.replace("_", "-")}`;
    part.dataset.claim = String(index);
    part.textContent = text;
    // One stop of the Tab key for each claim, and none inside a link, which has its own.
    if (!begun.has(index ?? -1) && !node.parentElement?.closest("a")) {
      part.tabIndex = 0;
      part.setAttribute("role", "button");
      begun.add(index ?? -1);
    }
    return part;
  }
}

function textsOf(fragment: DocumentFragment): Text[] {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  while (walker.nextNode()) found.push(walker.currentNode as Text);
  return found;
}
