/** Markup that a sanitiser or an escaping highlighter made. Nothing else may come in here. */
export function SafeHtml({ html, of: Tag, ...rest }: { html: string; of: "div" | "code"; class?: string }) {
  return <Tag {...rest} dangerouslySetInnerHTML={{ __html: html }} />;
}
