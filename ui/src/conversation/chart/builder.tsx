import type { ComponentChildren } from "preact";
import type { Column, Row } from "../../api/types";
import { isNumeric } from "../rows/format";
import type { Aggregate } from "./aggregate";
import { colorsOf, possible, type Settings } from "./build";
import type { Choice } from "./choices";
import { type Chart, type Mark, MARKS } from "./intent";
import { chartTexts } from "./texts";

export interface Shown {
  chart: Chart;
  settings: Settings;
  choice: Choice;
  columns: Column[];
  rows: Row[];
  /** Fields of `part` that are undefined go back to what was proposed. */
  change: (part: { [Key in keyof Choice]: Choice[Key] | undefined }) => void;
}

/** The choices of every chart: its mark, what is across, the value and the colour. */
export function Builder(shown: Shown) {
  const { chart, settings, columns, rows, change } = shown;
  const [first] = settings.values;
  const numbers = indices(columns, isNumeric);
  const setFirst = (part: { column?: number; how?: Aggregate }) =>
    change({ values: [{ column: first?.column ?? 0, ...part }, ...settings.values.slice(1).map(stored)] });
  const colors = colorsOf(columns, rows).filter((at) => at !== settings.across);
  const binned = settings.mark === "histogram";
  return (
    <>
      <Choose
        name={<span class="visually-hidden">{chartTexts.type}</span>}
        value={chart.mark}
        of={MARKS.filter((mark) => mark === chart.mark || possible(mark, columns, rows))}
        label={(mark) => chartTexts.marks[mark]}
        choose={(mark: Mark) => change({ mark })}
      />
      {!binned && (
        <ChooseColumn
          name={chartTexts.x}
          value={settings.across}
          of={columns.map((_, at) => at)}
          columns={columns}
          choose={(across) => change({ across })}
        />
      )}
      <ChooseColumn
        name={chartTexts.y}
        value={first?.column ?? 0}
        of={numbers}
        columns={columns}
        choose={(column) => setFirst({ column, ...(first?.how && { how: first.how }) })}
      />
      {!binned && colors.length > 0 && settings.mark !== "combo" && settings.mark !== "arc" && (
        <ChooseColumn
          name={chartTexts.series}
          value={settings.series ?? -1}
          of={[...new Set([-1, ...colors, settings.series ?? -1])]}
          columns={columns}
          choose={(series) => change({ series })}
        />
      )}
    </>
  );
}

interface Options<Value extends string> {
  name: ComponentChildren;
  value: Value;
  of: readonly Value[];
  label: (value: Value) => ComponentChildren;
  choose: (value: Value) => void;
}

export function Choose<Value extends string>({ name, value, of, label, choose }: Options<Value>) {
  return (
    <label>
      {name}
      <select value={value} onChange={(event) => choose(event.currentTarget.value as Value)}>
        {of.map((each) => (
          <option key={each} value={each}>
            {label(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ColumnOptions {
  name: string;
  value: number;
  /** Columns by their index; -1 is none. */
  of: number[];
  columns: Column[];
  choose: (column: number) => void;
}

export function ChooseColumn({ name, value, of, columns, choose }: ColumnOptions) {
  return (
    <Choose
      name={name}
      value={String(value)}
      of={of.map(String)}
      label={(at) => columns[Number(at)]?.name ?? chartTexts.noSeries}
      choose={(at) => choose(Number(at))}
    />
  );
}

export function stored({ column, how }: Settings["values"][number]): { column: number; how?: Aggregate } {
  return how === undefined ? { column } : { column, how };
}

export function indices(columns: Column[], of: (column: Column) => boolean): number[] {
  return columns.flatMap((column, at) => (of(column) ? [at] : []));
}
