import { useMemo } from "preact/hooks";
import { SafeHtml } from "./safe_html";
import { highlighted } from "./highlight";
import "./sql_text.css";

export function SqlText({ sql }: { sql: string }) {
  const html = useMemo(() => highlighted(sql), [sql]);
  return (
    <pre class="sql" tabIndex={0}>
      <SafeHtml of="code" html={html} />
    </pre>
  );
}
