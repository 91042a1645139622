/** Choices for a chart: another mark, and other columns of the rows if every row can be drawn. */
import type { Column, Row } from "../../api/types";
import { texts } from "../../shared/texts";
import { isNumeric } from "../rows/format";
import type { AnswerRows } from "../rows/answer_rows";
import { type Channel, type Chart, type Datum, type Kind, type Mark, MARKS } from "./intent";

const MOST_SERIES = 12;
const MOST_ROWS = 2_000;

/** What the analyst changed; what is left out stays as the server chose it. */
export interface Choice {
  mark?: Mark;
  across?: string;
  value?: string;
  series?: string;
}

/** The server's channels first, then the other columns of the rows if all of these can be drawn. */
export function channels(chart: Chart, rows: AnswerRows | null): Channel[] {
  const own = [chart.across, chart.value, ...(chart.series ? [chart.series] : [])];
  if (!rows || rows.count > MOST_ROWS || own.some((each) => columnOf(each, rows.columns) < 0)) return own;
  const known = new Set(own.map((each) => columnOf(each, rows.columns)));
  return [...own, ...rows.columns.map(channelOf).filter((_, index) => !known.has(index))];
}

/** Whether a choice needs columns that the server's chart does not have. */
export function needsRows({ across, value, series }: Choice): boolean {
  return [across, value, series].some((field) => field?.startsWith("r"));
}

/** The chart with the analyst's choices; the server's chart until all rows that it needs are loaded. */
export function chosen(chart: Chart, choice: Choice, rows: AnswerRows | null, loaded: Row[]): Chart {
  if (!needsRows(choice)) return truthful(withChoice(chart, choice, channels(chart, null)));
  if (!rows || loaded.length < rows.count) return chart;
  const { columns } = rows;
  const ofRow = (channel: Channel) =>
    channel.field.startsWith("r") ? channel : { ...channel, field: `r${columnOf(channel, columns)}` };
  const picked = withChoice(chart, choice, channels(chart, rows));
  return truthful({
    ...picked,
    across: ofRow(picked.across),
    value: ofRow(picked.value),
    series: picked.series && ofRow(picked.series),
    adds: picked.adds && picked.value === chart.value,
    how: rows.cutBy ? texts.rows.cut[rows.cutBy] : "",
    data: loaded.map((row) => datumOf(row, columns)),
  });
}

/** Marks that do not mislead: slices and stacked areas imply that values add up. */
export function marks({ adds, series, value, data }: Chart): Mark[] {
  const positive = data.every((each) => Number(each[value.field] ?? 0) >= 0);
  return MARKS.filter((mark) => {
    if (mark === "arc") return adds && positive;
    return mark !== "area" || adds || series === null;
  });
}

/** Whether a channel has few enough values to distinguish them by colour. */
export function isSeries(channel: Channel, data: Datum[]): boolean {
  return (
    channel.kind !== "quantitative" && new Set(data.map((each) => each[channel.field])).size <= MOST_SERIES
  );
}

function withChoice(chart: Chart, choice: Choice, all: Channel[]): Chart {
  const find = (field: string | undefined) => all.find((each) => each.field === field);
  return {
    ...chart,
    mark: choice.mark ?? chart.mark,
    across: find(choice.across) ?? chart.across,
    value: find(choice.value) ?? chart.value,
    series: choice.series === "" ? null : (find(choice.series) ?? chart.series),
  };
}

/** Uses a mark that does not mislead: several values at one place are points, unless they are stacked. */
function truthful(chart: Chart): Chart {
  const mark = marks(chart).includes(chart.mark) ? chart.mark : "bar";
  const places = new Set(chart.data.map((each) => placeOf(each, chart)));
  const stacks = chart.adds && mark !== "line";
  if (mark === "point" || stacks || places.size === chart.data.length) return { ...chart, mark };
  const how = `${chart.how} ${texts.chart.several(chart.across.title)}`.trim();
  return { ...chart, mark: "point", how };
}

function placeOf(datum: Datum, { across, series }: Chart): string {
  return JSON.stringify([datum[across.field], series ? datum[series.field] : null]);
}

function datumOf(row: Row, columns: Column[]): Datum {
  const cells = row.map((cell, index) => {
    const plain = typeof cell === "object" ? null : cell;
    const column = columns[index];
    return [`r${index}`, column && isNumeric(column) && plain !== null ? Number(plain) : plain];
  });
  return Object.fromEntries(cells) as Datum;
}

function columnOf(channel: Channel, columns: Column[]): number {
  return columns.findIndex((column) => words(column.name) === words(channel.title));
}

function channelOf(column: Column, index: number): Channel {
  return { field: `r${index}`, kind: kindOf(column), title: column.name };
}

function kindOf(column: Column): Kind {
  if (isNumeric(column)) return "quantitative";
  return column.type === "date" || column.type === "datetime" ? "temporal" : "nominal";
}

const words = (title: string) =>
  title
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .replace(/[_\s]+/g, " ")
    .trim();
