import type { FileBody, FileCorrection, UploadedColumn } from "../api/types";
import { uploads } from "./texts";
import { count } from "../shared/time";

type Correction = FileCorrection["tables"][number];
type ColumnCorrection = NonNullable<Correction["columns"]>[number];

/** The type of a column as a person has chosen it. `corrected`: it was inferred otherwise. */
export interface Choice {
  table: string;
  column: string;
  value: string;
  changed: boolean;
  corrected: boolean;
}

/** Types with the ways in which a file may write them. */
const TYPES = [
  "text",
  "integer",
  "number",
  "number comma",
  "boolean",
  "date",
  "date dmy",
  "date mdy",
  "datetime",
  "datetime dmy",
  "datetime mdy",
] as const;

export function choicesOf(file: FileBody, before: Choice[] = []): Choice[] {
  const corrected = new Set(
    before.filter((each) => each.corrected || each.changed).map((each) => `${each.table}\n${each.column}`),
  );
  return file.tables.flatMap((table) =>
    table.columns.map((column) => ({
      table: table.name,
      column: column.name,
      value: valueOf(column),
      changed: false,
      corrected: corrected.has(`${table.name}\n${column.name}`),
    })),
  );
}

/** Corrections replace all earlier ones, so those are sent again. */
export function correctionsOf(choices: Choice[]): FileCorrection {
  const tables = new Map<string, ColumnCorrection[]>();
  for (const { table, column, value, changed, corrected } of choices) {
    if (!changed && !corrected) continue;
    const [type, written] = value.split(" ");
    const correction = { name: column, type, written: written ?? null } as ColumnCorrection;
    tables.set(table, [...(tables.get(table) ?? []), correction]);
  }
  return { tables: [...tables].map(([name, columns]) => ({ name, columns })) };
}

export function FileColumns({
  file,
  choices,
  choose,
}: {
  file: FileBody;
  choices: Choice[];
  choose: (choices: Choice[]) => void;
}) {
  const choiceOf = (table: string, column: string) =>
    choices.find((each) => each.table === table && each.column === column);
  return (
    <>
      {file.tables.map((table) => (
        <div key={table.name} class="file-table" role="region" aria-label={table.name} tabIndex={0}>
          <table>
            <caption>{uploads.table(table.name, count(table.row_count))}</caption>
            <thead>
              <tr>
                <th scope="col">{uploads.column}</th>
                <th scope="col">{uploads.type}</th>
                <th scope="col">{uploads.samples}</th>
              </tr>
            </thead>
            <tbody>
              {table.columns.map((column) => {
                const choice = choiceOf(table.name, column.name);
                return (
                  <tr key={column.name}>
                    <th scope="row">{column.name}</th>
                    <td>
                      <select
                        aria-label={uploads.typeOf(column.name)}
                        value={choice?.value}
                        onChange={(event) => {
                          const value = event.currentTarget.value;
                          choose(
                            choices.map((each) =>
                              each === choice ? { ...each, value, changed: true } : each,
                            ),
                          );
                        }}
                      >
                        {optionsOf(column).map((value) => (
                          <option key={value} value={value}>
                            {uploads.types[value] ?? value}
                          </option>
                        ))}
                      </select>
                    </td>
                    <td>
                      <span class="quiet">{column.samples.join(" · ")}</span>
                      {column.not_fitting > 0 && (
                        <strong class="not-fitting">
                          {uploads.notFitting(count(column.not_fitting), count(column.cells))}{" "}
                          {column.not_fitting_samples.join(" · ")}
                        </strong>
                      )}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      ))}
    </>
  );
}

function valueOf(column: UploadedColumn): string {
  const { type, written } = column;
  const plain = written === null || written === "point" || written === "ymd" || type === "integer";
  return plain ? type : `${type} ${written}`;
}

/** The types of a Parquet file are DuckDB's own. */
function optionsOf(column: UploadedColumn): string[] {
  const own = valueOf(column);
  return (TYPES as readonly string[]).includes(own) ? [...TYPES] : [own, ...TYPES];
}
