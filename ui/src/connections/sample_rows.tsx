import { useState } from "preact/hooks";
import { sampleTable } from "../api/client";
import { asProblem } from "../api/problem";
import type { Cell, Problem, Row, Sample, Table } from "../api/types";
import { formatOf, isNumeric } from "../conversation/rows/format";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { connectionTexts } from "./texts";

/** The first rows of a table, read when the user opens them. */
export function SampleRows({ connectionId, table }: { connectionId: string; table: Table }) {
  const [sample, setSample] = useState<Sample | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const read = () => {
    setProblem(null);
    sampleTable(connectionId, table.name).then(setSample, (error: unknown) => setProblem(asProblem(error)));
  };
  if (problem) return <ProblemBox problem={problem} onRetry={read} />;
  if (sample) {
    const label = `${connectionTexts.sample}: ${table.name}`;
    return <SampleTable columns={sample.columns} rows={sample.rows as Row[]} label={label} />;
  }
  return (
    <button type="button" class="button small" onClick={read}>
      {connectionTexts.showSample}
    </button>
  );
}

interface Rows {
  columns: Sample["columns"];
  rows: Row[];
  label: string;
}

/** A few rows as a plain table, which scrolls sideways. */
export function SampleTable({ columns, rows, label }: Rows) {
  const isNumber = (column: number) => columns.slice(column, column + 1).some(isNumeric);
  const formats = columns.map((column, index) => formatOf(column, index, rows));
  return (
    <div class="columns-scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="sample">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={isNumeric(column) ? "numeric" : undefined}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} class={isNumber(column) ? "numeric" : undefined}>
                  {shown(cell, formats[column])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function shown(cell: Cell, format: ((cell: Cell) => string) | undefined) {
  return cell === null ? <em>{texts.rows.nothing}</em> : format?.(cell);
}
