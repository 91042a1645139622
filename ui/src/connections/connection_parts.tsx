import { useEffect, useState } from "preact/hooks";
import type { Table } from "../api/types";
import { EntryList } from "../knowledge/entry_list";
import { hasKnowledge, type Kind, KINDS } from "../knowledge/knowledge";
import { Tabs } from "../shared/tabs";
import { texts } from "../shared/texts";
import { TableList } from "./table_list";

type Part = "schema" | Kind;

/** The tables of a database and, where the server keeps it, what people have told of it. */
export function ConnectionParts({ connectionId, tables }: { connectionId: string; tables: Table[] }) {
  const [shown, show] = useState<Part>("schema");
  const [known, setKnown] = useState(false);
  useEffect(() => {
    hasKnowledge(connectionId).then(setKnown, () => setKnown(false));
  }, [connectionId]);
  if (!known) return <TableList connectionId={connectionId} tables={tables} />;
  const names = { schema: texts.connections.schema, ...texts.knowledge };
  const tabs = (["schema", ...KINDS] as const).map((key) => ({ key, label: names[key] }));
  return (
    <Tabs label={texts.connections.parts} tabs={tabs} shown={shown} show={show}>
      {shown === "schema" ? (
        <TableList connectionId={connectionId} tables={tables} />
      ) : (
        <EntryList key={shown} kind={shown} connectionId={connectionId} />
      )}
    </Tabs>
  );
}
