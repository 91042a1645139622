/** The columns a chart may show besides those the server chose: the answer's own. */
import type { Column, Row } from "../../api/types";
import { isNumeric } from "../rows/format";
import type { Channel, Chart, Datum, Kind, Mark } from "./intent";

const MOST_SERIES = 12;

/** What the analyst changed; what is left out stays as the server chose it. */
export interface Choice {
  mark?: Mark;
  across?: string;
  value?: string;
  series?: string;
}

/** The server's channels first, then every column of the rows. */
export function channels(chart: Chart, columns: Column[]): Channel[] {
  const own = [chart.across, chart.value, ...(chart.series ? [chart.series] : [])];
  const others = columns.map((column, index) => ({
    field: `r${index}`,
    kind: kindOf(column),
    title: column.name,
  }));
  const known = new Set(own.map((each) => words(each.title)));
  return [...own, ...others.filter((each) => !known.has(words(each.title)))];
}

/** The chart with the analyst's choices, over the rows its data was made of. */
export function chosen(chart: Chart, choice: Choice, columns: Column[], rows: Row[]): Chart {
  const all = channels(chart, columns);
  const find = (field: string | undefined, otherwise: Channel) =>
    all.find((each) => each.field === field) ?? otherwise;
  const series =
    choice.series === "" ? null : choice.series ? find(choice.series, chart.across) : chart.series;
  return {
    mark: choice.mark ?? chart.mark,
    across: find(choice.across, chart.across),
    value: find(choice.value, chart.value),
    series,
    data: chart.data.map((datum, index) => withRow(datum, rows[index])),
  };
}

/** Whether a channel has few enough values to be told apart by colour. */
export function isSeries(channel: Channel, data: Datum[]): boolean {
  return (
    channel.kind !== "quantitative" && new Set(data.map((each) => each[channel.field])).size <= MOST_SERIES
  );
}

function withRow(datum: Datum, row: Row | undefined): Datum {
  const cells = (row ?? []).map((cell, index) => [`r${index}`, typeof cell === "object" ? null : cell]);
  return { ...(Object.fromEntries(cells) as Datum), ...datum };
}

function kindOf(column: Column): Kind {
  if (isNumeric(column)) return "quantitative";
  return column.type === "date" || column.type === "datetime" ? "temporal" : "nominal";
}

const words = (title: string) => title.toLowerCase().replace(/[_\s]+/g, " ");
