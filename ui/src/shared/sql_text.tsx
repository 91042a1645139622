import { useMemo } from "preact/hooks";
import { tokensOf } from "./sql_tokens";
import "./sql_text.css";

export function SqlText({ sql }: { sql: string }) {
  const tokens = useMemo(() => tokensOf(sql), [sql]);
  return (
    <pre class="sql" tabIndex={0}>
      <code>
        {tokens.map(({ kind, text }, index) =>
          kind === "name" || kind === "other" ? (
            text
          ) : (
            <span key={index} class={`sql-${kind}`}>
              {text}
            </span>
          ),
        )}
      </code>
    </pre>
  );
}
