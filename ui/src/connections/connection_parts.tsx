import { useEffect, useState } from "preact/hooks";
import type { Table } from "../api/types";
import { EntryList } from "../knowledge/entry_list";
import { type Kind, KINDS } from "../knowledge/knowledge";
import { knowledgeTexts } from "../knowledge/texts";
import { lazy } from "../shared/lazy";
import { fragment } from "../shared/route";
import { Tabs } from "../shared/tabs";
import { TableList } from "./table_list";
import { connectionTexts } from "./texts";

const PoliciesPart = lazy(() => import("../policies/policies_part"));

type Part = "schema" | Kind | "policies";

interface Shown {
  connectionId: string;
  tables: Table[];
  /** Time of the scan that found them: a later one may break examples. */
  scannedAt: string | null;
  mayChange: boolean;
  onChanged: (table: Table) => void;
}

/** The tables of a database, its context store, and for its owner its policies. */
export function ConnectionParts({ connectionId, tables, scannedAt, mayChange, onChanged }: Shown) {
  const [shown, show] = useState<Part>("schema");
  const { id, arrival } = fragment.value;
  useEffect(() => {
    if (tables.some((table) => encodeURIComponent(table.name) === id)) show("schema");
  }, [id, arrival]);
  const { schema, policies } = connectionTexts;
  const names = { schema, policies, ...knowledgeTexts };
  const keys: Part[] = ["schema", ...KINDS, ...(mayChange ? (["policies"] as const) : [])];
  const tabs = keys.map((key) => ({ key, label: names[key] }));
  return (
    <Tabs label={connectionTexts.parts} tabs={tabs} shown={shown} show={show}>
      {shown === "schema" ? (
        <TableList connectionId={connectionId} tables={tables} mayChange={mayChange} onChanged={onChanged} />
      ) : shown === "policies" ? (
        <PoliciesPart connectionId={connectionId} tables={tables} />
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
