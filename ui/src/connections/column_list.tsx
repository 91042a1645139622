import type { Table, TableColumn } from "../api/types";
import { texts } from "../shared/texts";

const SHOWN_VALUES = 8;

/** The columns of a table, with what the scan found in them. */
export function ColumnList({ table }: { table: Table }) {
  const refers = new Map(
    table.foreign_keys.flatMap((key) => key.columns.map((name) => [name, key.referred_table])),
  );
  return (
    <div
      class="columns-scroll"
      tabIndex={0}
      role="region"
      aria-label={`${texts.connections.columns}: ${table.name}`}
    >
      <table class="columns">
        <tbody>
          {table.columns.map((column) => (
            <tr key={column.name}>
              <th scope="row">{column.name}</th>
              <td class="type">{column.database_type || column.type}</td>
              <td class="quiet">
                {column.primary_key && <span class="key">{texts.connections.key}</span>}
                {refers.has(column.name) && texts.connections.refersTo(refers.get(column.name) ?? "")}
              </td>
              <td class="quiet values">{valuesOf(column)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function valuesOf(column: TableColumn): string {
  const { values, minimum, maximum, description } = column;
  const seen =
    values.length > SHOWN_VALUES ? `${values.slice(0, SHOWN_VALUES).join(", ")}, …` : values.join(", ");
  const range = minimum != null && maximum != null ? `${minimum} … ${maximum}` : "";
  return [description, seen || range].filter(Boolean).join(" · ");
}
