import { useEffect, useState } from "preact/hooks";
import type { Table } from "../api/types";
import { EntryList } from "../knowledge/entry_list";
import { type Kind, KINDS } from "../knowledge/knowledge";
import { knowledgeTexts } from "../knowledge/texts";
import { fragment } from "../shared/route";
import { Tabs } from "../shared/tabs";
import { TableList } from "./table_list";
import { connectionTexts } from "./texts";

type Part = "schema" | Kind;

interface Shown {
  connectionId: string;
  tables: Table[];
  /** Time of the scan that found them: a later one may break examples. */
  scannedAt: string | null;
  mayChange: boolean;
  onChanged: (table: Table) => void;
}

/** The tables of a database, and its context store. */
export function ConnectionParts({ connectionId, tables, scannedAt, mayChange, onChanged }: Shown) {
  const [shown, show] = useState<Part>("schema");
  const { id, arrival } = fragment.value;
  useEffect(() => {
    if (tables.some((table) => encodeURIComponent(table.name) === id)) show("schema");
  }, [id, arrival]);
  const names = { schema: connectionTexts.schema, ...knowledgeTexts };
  const tabs = (["schema", ...KINDS] as const).map((key) => ({ key, label: names[key] }));
  return (
    <Tabs label={connectionTexts.parts} tabs={tabs} shown={shown} show={show}>
      {shown === "schema" ? (
        <TableList connectionId={connectionId} tables={tables} mayChange={mayChange} onChanged={onChanged} />
      ) : (
        <EntryList
          key={`${shown} ${scannedAt}`}
          kind={shown}
          connectionId={connectionId}
          mayChange={mayChange}
        />
      )}
    </Tabs>
  );
}
