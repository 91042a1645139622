/** Markdown of a model, which is hostile until proven otherwise, as markup that can do nothing. */
import DOMPurify from "dompurify";
import { Marked } from "marked";

const TAGS = [
  ...["a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "strong", "ul"],
  ...["h1", "h2", "h3", "h4", "h5", "h6", "table", "tbody", "td", "th", "thead", "tr"],
];

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

export function safeMarkup(markdown: string): string {
  return purify.sanitize(marked.parse(markdown) as string, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "start"],
    ALLOWED_URI_REGEXP: /^https?:\/\//i,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
