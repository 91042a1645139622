import { useMemo } from "preact/hooks";
import { changesBetween } from "./diff";

/** A statement with what it changes: new parts are marked, removed ones struck out. */
export function SqlDiff({ before, after }: { before: string; after: string }) {
  const tokens = useMemo(() => changesBetween(before, after), [before, after]);
  return (
    <pre class="sql" tabIndex={0}>
      <code>
        {tokens.map(({ kind, text, change }, index) => {
          if (change === "added") return <ins key={index}>{text}</ins>;
          if (change === "removed") return <del key={index}>{text} </del>;
          return kind === "name" || kind === "other" ? (
            text
          ) : (
            <span key={index} class={`sql-${kind}`}>
              {text}
            </span>
          );
        })}
      </code>
    </pre>
  );
}
