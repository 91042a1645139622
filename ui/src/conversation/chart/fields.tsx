import type { ComponentChildren } from "preact";
import type { ChartChoice, Column } from "../../api/types";
import { isNumeric } from "../rows/format";
import { chartFormTexts } from "./chart_form_texts";
import type { Plan, PlannedValue } from "./spec";

export type Mark = NonNullable<ChartChoice["mark"]>;
export type Aggregate = NonNullable<NonNullable<ChartChoice["values"]>[number]["how"]>;

export interface ShownFields {
  /** What is drawn now. */
  plan: Plan;
  columns: Column[];
  choice: ChartChoice;
  change: (part: ChartChoice) => void;
}

/** Pictures whose colours or places leave no room for series. */
const WITHOUT_SERIES = ["arc", "histogram", "combo", "map"];
const NO_SERIES = -1;

/** The choices of every chart: its kind, what is across, the value and the colour. */
export function Fields({ plan, columns, choice, change }: ShownFields) {
  const [first] = plan.values;
  const numbers = indices(columns, isNumeric);
  const known = Object.keys(chartFormTexts.marks) as Mark[];
  const marks = known.filter(
    (mark) => plan.marks.length === 0 || plan.marks.includes(mark) || mark === plan.mark,
  );
  const binned = plan.mark === "histogram";
  const colors = [
    NO_SERIES,
    ...indices(columns, (each) => !isNumeric(each)).filter((at) => at !== plan.across),
  ];
  return (
    <>
      <Choose
        name={chartFormTexts.type}
        value={plan.mark ?? ""}
        of={marks}
        label={(mark) => chartFormTexts.marks[mark as Mark] ?? mark}
        choose={(mark) => change({ mark: mark as Mark })}
      />
      {!binned && (
        <ChooseColumn
          name={chartFormTexts.x}
          value={plan.across}
          of={columns.map((_, at) => at)}
          columns={columns}
          choose={(across) => change({ across })}
        />
      )}
      <ChooseColumn
        name={chartFormTexts.y}
        value={first?.column ?? null}
        of={numbers}
        columns={columns}
        choose={(column) => change({ values: [{ column, how: null }, ...plan.values.slice(1).map(kept)] })}
      />
      {!WITHOUT_SERIES.includes(plan.mark ?? "") && colors.length > 1 && (
        <ChooseColumn
          name={chartFormTexts.series}
          value={choice.series ?? plan.series ?? NO_SERIES}
          of={[...new Set([...colors, plan.series ?? NO_SERIES])]}
          columns={columns}
          choose={(series) => change({ series })}
        />
      )}
    </>
  );
}

interface Options {
  name: string;
  /** A value that is not among those that can be chosen is shown as none of them. */
  value: string;
  of: readonly string[];
  label: (value: string) => ComponentChildren;
  choose: (value: string) => void;
}

export function Choose({ name, value, of, label, choose }: Options) {
  const known = of.includes(value) ? of : ["", ...of];
  return (
    <label>
      {name}
      <select
        value={known.includes(value) ? value : ""}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {known.map((each) => (
          <option key={each} value={each} disabled={each === "" && !of.includes("")}>
            {each === "" && !of.includes("") ? "–" : label(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ColumnOptions {
  name: string;
  value: number | null;
  /** Columns by their index; -1 is none. */
  of: number[];
  columns: Column[];
  choose: (column: number) => void;
}

export function ChooseColumn({ name, value, of, columns, choose }: ColumnOptions) {
  return (
    <Choose
      name={name}
      value={value === null ? "" : String(value)}
      of={of.map(String)}
      label={(at) => columns[Number(at)]?.name ?? chartFormTexts.noSeries}
      choose={(at) => choose(Number(at))}
    />
  );
}

/** A value as a choice names it. */
export function kept({ column, how }: PlannedValue) {
  return { column, how: how as Aggregate | null };
}

export function indices(columns: Column[], of: (column: Column) => boolean): number[] {
  return columns.flatMap((column, at) => (of(column) ? [at] : []));
}
