/** SQL with its keywords, strings and numbers marked; everything else escaped. */
import hljs from "highlight.js/lib/core";
import sql from "highlight.js/lib/languages/sql";

hljs.registerLanguage("sql", sql);

export function highlighted(text: string): string {
  return hljs.highlight(text, { language: "sql", ignoreIllegals: true }).value;
}
