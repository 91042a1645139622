import type { ComponentChildren } from "preact";
import type { Column, Row } from "../../api/types";
import { isNumeric } from "../rows/format";
import { type Aggregate, AGGREGATES, type Sort, SORTS, TIME_UNITS } from "./aggregate";
import { colorsOf, isTimed, possible, type Settings } from "./build";
import type { Choice } from "./choices";
import { type Chart, type Mark, MARKS } from "./intent";
import { NUMBER_FORMATS, type NumberFormat } from "./numbers";
import { chartTexts } from "./texts";

interface Shown {
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

/** The choices that fewer readers need. */
export function MoreChoices({ children, ...shown }: Shown & { children: ComponentChildren }) {
  const { settings, choice, columns, rows, change } = shown;
  const [first, second] = settings.values;
  const column = first?.column ?? 0;
  const set = (values: Settings["values"]) => change({ values: values.map(stored) });
  const numbers = indices(columns, isNumeric).filter((at) => at !== column);
  const binned = settings.mark === "histogram";
  return (
    <div class="chart-options">
      {!binned && children}
      {!binned && (
        <Choose
          name={chartTexts.how}
          value={first?.how ?? ""}
          of={["", ...AGGREGATES] as const}
          label={(how) => (how === "" ? chartTexts.formats.auto : chartTexts.aggregates[how])}
          choose={(how) => set([{ column, how: how === "" ? undefined : how }, ...settings.values.slice(1)])}
        />
      )}
      {!binned && numbers.length > 0 && (
        <ChooseColumn
          name={chartTexts.second}
          value={second?.column ?? -1}
          of={settings.mark === "combo" ? numbers : [-1, ...numbers]}
          columns={columns}
          choose={(at) =>
            set([...settings.values.slice(0, 1), ...(at < 0 ? [] : [{ column: at, how: first?.how }])])
          }
        />
      )}
      {isTimed(columns[settings.across], rows, settings.across) && !binned ? (
        <Choose
          name={chartTexts.time}
          value={choice.time ?? ""}
          of={["", ...TIME_UNITS] as const}
          label={(unit) => (unit === "" ? chartTexts.asIs : chartTexts.times[unit])}
          choose={(time) => change({ time: time === "" ? undefined : time })}
        />
      ) : (
        <Choose
          name={chartTexts.sort}
          value={choice.sort ?? "rows"}
          of={SORTS}
          label={(sort) => chartTexts.sorts[sort]}
          choose={(sort: Sort) => change({ sort })}
        />
      )}
      <Choose
        name={chartTexts.format}
        value={choice.format ?? "auto"}
        of={NUMBER_FORMATS}
        label={(format) => chartTexts.formats[format]}
        choose={(format: NumberFormat) => change({ format })}
      />
      <label>
        {chartTexts.unit}
        <input
          size={6}
          maxLength={12}
          value={choice.unit ?? ""}
          placeholder={chartTexts.unitHint}
          onChange={(event) => change({ unit: event.currentTarget.value || undefined })}
        />
      </label>
      <label>
        {chartTexts.title}
        <input
          maxLength={200}
          value={choice.title ?? ""}
          placeholder={shown.chart.heading}
          onChange={(event) => change({ title: event.currentTarget.value || undefined })}
        />
      </label>
    </div>
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

function ChooseColumn({ name, value, of, columns, choose }: ColumnOptions) {
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

function stored({ column, how }: Settings["values"][number]): { column: number; how?: Aggregate } {
  return how === undefined ? { column } : { column, how };
}

function indices(columns: Column[], of: (column: Column) => boolean): number[] {
  return columns.flatMap((column, at) => (of(column) ? [at] : []));
}
