import { EyeOff, Pencil } from "lucide";
import { useState } from "preact/hooks";
import type { Table, TableColumn } from "../api/types";
import { Icon } from "../shared/icon";
import { lazy } from "../shared/lazy";
import { connectionTexts } from "./texts";

const ColumnForm = lazy(() => import("./column_form"));

const SHOWN_VALUES = 8;

/** The columns of a table, with what the scan found in them. */
export function ColumnList({
  connectionId,
  table,
  mayChange,
  onChanged,
}: {
  connectionId: string;
  table: Table;
  mayChange: boolean;
  onChanged: (table: Table) => void;
}) {
  const [edited, setEdited] = useState<TableColumn | null>(null);
  const refers = new Map(
    table.foreign_keys.flatMap((key) => key.columns.map((name) => [name, key.referred_table])),
  );
  return (
    <div
      class="columns-scroll"
      tabIndex={0}
      role="region"
      aria-label={`${connectionTexts.columns}: ${table.name}`}
    >
      <table class="columns">
        <tbody>
          {table.columns.map((column) => (
            <tr key={column.name} class={column.hidden ? "hidden-column" : undefined}>
              <th scope="row">{column.name}</th>
              <td class="type">{column.database_type || column.type}</td>
              <td class="quiet">
                {column.hidden && (
                  <span class="key">
                    <Icon of={EyeOff} size={12} /> {connectionTexts.hidden}
                  </span>
                )}
                {column.primary_key && <span class="key">{connectionTexts.key}</span>}
                {refers.has(column.name) && connectionTexts.refersTo(refers.get(column.name) ?? "")}
              </td>
              <td class="quiet values">{valuesOf(column)}</td>
              {mayChange && (
                <td>
                  <button
                    type="button"
                    class="icon-button"
                    aria-label={connectionTexts.editColumn(column.name)}
                    title={connectionTexts.editColumn(column.name)}
                    onClick={() => setEdited(column)}
                  >
                    <Icon of={Pencil} size={14} />
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {edited && (
        <ColumnForm
          connectionId={connectionId}
          table={table}
          column={edited}
          onSaved={onChanged}
          onClose={() => setEdited(null)}
        />
      )}
    </div>
  );
}

function valuesOf(column: TableColumn): string {
  const { values, minimum, maximum, description, unit } = column;
  const seen =
    values.length > SHOWN_VALUES ? `${values.slice(0, SHOWN_VALUES).join(", ")}, …` : values.join(", ");
  const range = minimum != null && maximum != null ? `${minimum} … ${maximum}` : "";
  return [unit, description, seen || range].filter(Boolean).join(" · ");
}
