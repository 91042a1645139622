/** What an analyst chooses of a chart, as the answer keeps it. */
import type { Column } from "../../api/types";
import { locale } from "../../shared/locale";
import { type Aggregate, AGGREGATES, isCalendar, natural, type Sort, SORTS } from "./aggregate";
import { type Channel, type Chart, type Mark, MARKS, TIME_UNITS, type TimeUnit } from "./intent";
import { NUMBER_FORMATS, type NumberFormat } from "./numbers";
import { nameOf, numberOf } from "./plotted";

export const MOST_VALUES = 3;
const LONGEST_UNIT = 12;
const LONGEST_TITLE = 200;

/** A column by its index, and how its values are put together. */
export type ChosenValue = { column: number; how?: Aggregate };

/** Columns are indices; a `series` of -1 is none. What is left out stays as the server chose it. */
// An interface would not be a JSON object, which the message of the answer keeps.
export type Choice = {
  mark?: Mark;
  across?: number;
  values?: ChosenValue[];
  series?: number;
  sort?: Sort;
  time?: TimeUnit;
  format?: NumberFormat;
  unit?: string;
  title?: string;
};

/** A stored choice, field by field: any client may have stored it. */
export function readChoice(raw: unknown, columns: number): Choice {
  const given = (typeof raw === "object" && raw !== null ? raw : {}) as Record<string, unknown>;
  const column = (value: unknown) => (isIndex(value) && value < columns ? value : undefined);
  const text = (value: unknown, most: number) =>
    typeof value === "string" ? value.slice(0, most) : undefined;
  const values = Array.isArray(given.values) ? given.values.slice(0, MOST_VALUES) : [];
  const known = values.flatMap((each: unknown) => {
    const { column: at, how } = (typeof each === "object" && each !== null ? each : {}) as Record<
      string,
      unknown
    >;
    const found = column(at);
    return found === undefined ? [] : [{ column: found, how: oneOf(AGGREGATES, how) }];
  });
  return withoutGaps({
    mark: oneOf(MARKS, given.mark),
    across: column(given.across),
    values: known.length > 0 ? known : undefined,
    series: given.series === -1 ? -1 : column(given.series),
    sort: oneOf(SORTS, given.sort),
    time: oneOf(TIME_UNITS, given.time),
    format: oneOf(NUMBER_FORMATS, given.format),
    unit: text(given.unit, LONGEST_UNIT),
    title: text(given.title, LONGEST_TITLE),
  });
}

/** The choice without the fields that were taken back. */
export function withoutGaps(choice: { [Key in keyof Choice]: Choice[Key] | undefined }): Choice {
  return Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== undefined));
}

/** Whether a choice needs rows, as the server's chart has not what it asks for. */
export function needsRows(chart: Chart | null, { mark, across, values, series, time }: Choice): boolean {
  const others = [across, values, series, time].some((each) => each !== undefined);
  return chart === null || others || (mark !== undefined && !marks(chart).includes(mark));
}

/** Marks that draw the chart's own points and do not mislead: slices and stacks imply that values add up. */
export function marks({ adds, series, value, data }: Chart): Mark[] {
  const positive = data.every((each) => Number(each[value.field] ?? 0) >= 0);
  return MARKS.filter((mark) => {
    switch (mark) {
      case "arc":
        return adds && positive && series === null && data.length <= 8;
      case "stacked":
        return adds && series !== null;
      case "percent":
        return adds && positive && series !== null;
      case "area":
        return adds || series === null;
      case "heat":
        return series !== null;
      default:
        return mark !== "histogram" && mark !== "combo";
    }
  });
}

/** The chart with another mark, order, title and numbers. */
export function dressed(chart: Chart, { mark, sort, format, unit, title }: Choice): Chart {
  return sorted(
    {
      ...chart,
      mark: mark !== undefined && marks(chart).includes(mark) ? mark : chart.mark,
      heading: title ?? chart.heading,
      numbers: { format: format ?? chart.numbers.format, unit: unit ?? chart.numbers.unit },
    },
    sort,
  );
}

/** Names in the order asked for; weekdays and months come in theirs unless another is asked for. */
export function sorted(chart: Chart, sort: Sort | undefined): Chart {
  const { across, value, data } = chart;
  if (across.kind !== "nominal" && across.kind !== "ordinal") return chart;
  const of = (datum: (typeof data)[number]) => nameOf(datum[across.field]);
  const names = [...new Set(data.map(of))];
  const order = sort ?? (isCalendar(names) ? "natural" : "rows");
  if (order === "rows" || chart.mark === "histogram") return chart;
  const sums = new Map<string, number>();
  for (const each of data) sums.set(of(each), (sums.get(of(each)) ?? 0) + (numberOf(each[value.field]) ?? 0));
  const inOrder =
    order === "value"
      ? names.sort((one, other) => (sums.get(other) ?? 0) - (sums.get(one) ?? 0))
      : order === "name"
        ? names.sort((one, other) => one.localeCompare(other, locale))
        : natural(names);
  const rank = new Map(inOrder.map((name, at) => [name, at]));
  return {
    ...chart,
    data: [...data].sort((one, other) => (rank.get(of(one)) ?? 0) - (rank.get(of(other)) ?? 0)),
  };
}

/** The index of a channel's column: the server names fields of its charts c0, c1, …; -1 if there is none. */
export function columnOf({ field }: Channel, columns: Column[]): number {
  const at = Number(/^c(\d+)$/.exec(field)?.[1] ?? -1);
  return at < columns.length ? at : -1;
}

function oneOf<Known extends string>(known: readonly Known[], value: unknown): Known | undefined {
  return known.find((each) => each === value);
}

function isIndex(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
