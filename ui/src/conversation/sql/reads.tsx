import { useState } from "preact/hooks";
import { inspectStatement } from "../../api/client";
import { asProblem } from "../../api/problem";
import type { InspectedStatement } from "../../api/types";
import { texts } from "../../shared/texts";

type Found = InspectedStatement["tables"] | string | null;

/** The tables and columns that a statement reads, requested when the list is opened. */
export function Reads({ connectionId, sql }: { connectionId: string; sql: string }) {
  const [found, setFound] = useState<Found>(null);
  const onToggle = async (event: Event) => {
    if (!(event.currentTarget as HTMLDetailsElement).open || found !== null) return;
    try {
      setFound((await inspectStatement(connectionId, sql)).tables);
    } catch (error) {
      setFound(asProblem(error).detail);
    }
  };
  return (
    <details class="reads" onToggle={(event) => void onToggle(event)}>
      <summary>{texts.sql.uses}</summary>
      <ReadList found={found} />
    </details>
  );
}

function ReadList({ found }: { found: Found }) {
  if (found === null) return <p>{texts.loading} …</p>;
  if (typeof found === "string") return <p>{found}</p>;
  if (found.length === 0) return <p>{texts.sql.usesNothing}</p>;
  return (
    <dl>
      {found.map((table) => (
        <div key={table.name}>
          <dt>{table.name}</dt>
          <dd>{table.columns.join(", ") || texts.sql.allColumns}</dd>
        </div>
      ))}
    </dl>
  );
}
