/** Markup from a sanitiser or an escaping highlighter. Pass no other markup to it. */
export function SafeHtml({ html, of: Tag, ...rest }: { html: string; of: "div" | "code"; class?: string }) {
  return <Tag {...rest} dangerouslySetInnerHTML={{ __html: html }} />;
}
