import { useMemo } from "preact/hooks";
import type { Pin, Row } from "../api/types";
import { readSpec } from "../conversation/chart/spec";
import { formatOf, isNumeric } from "../conversation/rows/format";
import { lazy } from "../shared/lazy";
import { changeOf } from "./period";
import { areFigures } from "./sizes";
import { boardTexts, periodTexts } from "./texts";
import { count } from "../shared/time";

const TileChart = lazy(() => import("./tile_chart"));

/** The rows of a pin: as figures, as its chart, or as a table. */
export function Shows({ pin }: { pin: Pin }) {
  const spec = useMemo(() => readSpec(pin.chosen_chart ?? pin.chart), [pin.chosen_chart, pin.chart]);
  if (pin.row_count === null) return <div class="tile-body" />;
  if (pin.row_count === 0)
    return <p class="tile-body quiet">{pin.period?.column ? periodTexts.noRows : periodTexts.empty}</p>;
  if (areFigures(pin.columns, pin.row_count)) return <Figures pin={pin} />;
  return (
    <div
      class={spec ? "tile-body charted" : "tile-body"}
      tabIndex={0}
      role="group"
      aria-label={boardTexts.contents(pin.title)}
    >
      {spec ? <TileChart pin={pin} spec={spec} /> : <Rows pin={pin} />}
    </div>
  );
}

function Figures({ pin }: { pin: Pin }) {
  const rows = pin.rows_head as Row[];
  return (
    <dl class="tile-body figures">
      {pin.columns.map((column, index) => (
        <div key={column.name}>
          <dt>
            {column.name.replaceAll("_", " ")} <Change pin={pin} index={index} />
          </dt>
          <dd>{formatOf(column, index, rows)(rows[0]?.[index] ?? null) || boardTexts.nothing}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The change of a figure from the period of equal length before. */
function Change({ pin, index }: { pin: Pin; index: number }) {
  const { period } = pin;
  const column = pin.columns[index];
  if (!period?.previous || !column) return null;
  const before = (period.previous as Row)[index] ?? null;
  const change = changeOf((pin.rows_head as Row[])[0]?.[index] ?? null, before);
  const was = formatOf(column, index, [period.previous as Row])(before) || boardTexts.nothing;
  const against = periodTexts.was(was, period.days);
  return (
    <span class="change" title={against}>
      {change ? periodTexts.change(change, period.days) : against}
      {change && <span class="visually-hidden">, {against}</span>}
    </span>
  );
}

function Rows({ pin }: { pin: Pin }) {
  const rows = pin.rows_head as Row[];
  const formats = pin.columns.map((column, index) => formatOf(column, index, rows));
  const side = (index: number) => (isNumericAt(pin, index) ? "numeric" : undefined);
  return (
    <>
      <table class="tile-rows">
        <thead>
          <tr>
            {pin.columns.map((column, index) => (
              <th key={index} scope="col" class={side(index)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, index) => (
                <td key={index} class={side(index)}>
                  {formats[index]?.(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length < (pin.row_count ?? 0) && (
        <p class="quiet">{boardTexts.firstRows(count(rows.length), count(pin.row_count ?? 0))}</p>
      )}
    </>
  );
}

function isNumericAt(pin: Pin, index: number): boolean {
  const column = pin.columns[index];
  return column !== undefined && isNumeric(column);
}
