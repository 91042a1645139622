/** Charts that an analyst builds from all rows of a result. */
import type { Cell, Column, Row } from "../../api/types";
import { locale } from "../../shared/locale";
import { count as written } from "../../shared/time";
import { isNumeric } from "../rows/format";
import { adds, type Aggregate, amountOf, startOf, together } from "./aggregate";
import { type Choice, columnOf, dressed } from "./choices";
import { coveredBy, partlyCovered } from "./covered";
import {
  type Channel,
  type Chart,
  type Covered,
  type Datum,
  type Kind,
  type Mark,
  onTime,
  PLAIN_NUMBERS,
  TIME_UNITS,
  type TimeUnit,
} from "./intent";
import { timeOf } from "./numbers";
import { nameOf, numberOf } from "./plotted";
import { linear } from "./scales";
import { chartTexts } from "./texts";

const MOST_POINTS = 2_000;
const MOST_PLACES = 30;
const KEPT_PLACES = 20;
const MOST_SLICES = 8;
const MOST_SERIES = 8;
const BINS = 20;
const SAMPLE = 200;

/** The columns and marks of a chart, all of them settled. */
export interface Settings {
  mark: Mark;
  across: number;
  values: { column: number; how: Aggregate | undefined }[];
  series: number | null;
  time: TimeUnit | undefined;
}

/** What the analyst chose; what is open is as in the server's chart, or as the columns suggest. */
export function settingsOf(chart: Chart | null, choice: Choice, columns: Column[], rows: Row[]): Settings {
  const own = (channel: Channel | null | undefined) => {
    const at = channel ? columnOf(channel, columns) : -1;
    return at < 0 ? undefined : at;
  };
  const numbers = indices(columns, isNumeric);
  const across = choice.across ?? own(chart?.across) ?? namesOf(columns, rows);
  const fitting = numbers.find((at) => at !== across) ?? numbers[0] ?? 0;
  const value = own(chart?.value);
  const first = { column: value ?? fitting, how: undefined };
  const values = (choice.values ?? [first]).map(({ column, how }) => ({ column, how }));
  const timed = isTimed(columns[across], rows, across);
  const mark = choice.mark ?? chart?.mark ?? (timed ? "line" : "bar");
  if (mark === "combo" && values.length < 2) {
    const other = numbers.find((at) => at !== values[0]?.column && at !== across);
    if (other !== undefined) values.push({ column: other, how: undefined });
  }
  let series = choice.series === -1 ? null : (choice.series ?? own(chart?.series) ?? null);
  if (series === across) series = null;
  if (
    series === null &&
    (mark === "heat" || ((mark === "stacked" || mark === "percent") && values.length < 2))
  )
    series = colorsOf(columns, rows).find((at) => at !== across) ?? null;
  return { mark, across, values, series, time: timed ? choice.time : undefined };
}

/** Columns with few enough names to tell them apart by colour. */
export function colorsOf(columns: Column[], rows: Row[]): number[] {
  return indices(columns, (column) => !isNumeric(column)).filter((at) => {
    const names = new Set(rows.map((row) => plain(row[at])));
    return names.size > 1 && names.size <= Math.max(2, rows.length / 2);
  });
}

/** Whether a column holds dates. */
export function isTimed(column: Column | undefined, rows: Row[], at: number): boolean {
  if (column?.type === "date" || column?.type === "datetime") return true;
  const known = rows.slice(0, SAMPLE).flatMap((row) => (typeof row[at] === "string" ? [row[at]] : []));
  return (
    known.length > 0 &&
    known.every((cell) => /^\d{4}-\d\d(-\d\d)?([T ]|$)/.test(cell) && !Number.isNaN(timeOf(cell)))
  );
}

/** Marks that the columns allow. */
export function possible(mark: Mark, columns: Column[], rows: Row[]): boolean {
  switch (mark) {
    case "combo":
      return indices(columns, isNumeric).length > 1;
    case "stacked":
    case "percent":
    case "heat":
      return colorsOf(columns, rows).length > 0;
    default:
      return true;
  }
}

interface Draft {
  mark: Mark;
  across: Channel;
  data: Datum[];
  adds: boolean;
  said: string[];
  time: TimeUnit | undefined;
}

/** The chart of all rows with these settings. `base` tells which values may be added up. */
export function built(
  base: Chart | null,
  settings: Settings,
  choice: Choice,
  of: { columns: Column[]; rows: Row[] },
): Chart {
  const { columns, rows } = of;
  const title = (at: number) => columns[at]?.name ?? "";
  const [first] = settings.values;
  const column = first?.column ?? 0;
  const frame = {
    rows: rows.length,
    computed: false,
    covered: null,
    second: null,
    heading: "",
    numbers: PLAIN_NUMBERS,
  };
  if (settings.mark === "histogram") {
    const bins = binned(rows.map((row) => amountOf(row[column])));
    return dressed(
      {
        ...frame,
        mark: "histogram",
        across: channel("a0", "ordinal", title(column)),
        value: channel("v0", "quantitative", chartTexts.rowsTitle),
        series: null,
        adds: true,
        how: chartTexts.binned(title(column)),
        data: bins,
        heading: chartTexts.distribution(title(column)),
      },
      { ...choice, mark: undefined },
    );
  }
  const melted = settings.values.length > 1 && settings.mark !== "combo";
  const additive = base !== null && base.adds && columnOf(base.value, columns) === column;
  const draft = put(settings, additive, of);
  const covered = coveredOn(settings.across, base, draft.time, of);
  const second = settings.mark === "combo" ? settings.values[1] : undefined;
  const by = melted
    ? channel("s0", "nominal", chartTexts.measures)
    : settings.series === null
      ? null
      : channel("s0", "nominal", title(settings.series));
  const value = channel(
    "v0",
    "quantitative",
    melted ? settings.values.map((each) => title(each.column)).join(", ") : title(column),
  );
  const chart: Chart = {
    ...frame,
    mark: draft.mark,
    across: onTime(draft.across, draft.data),
    value,
    series: by,
    second: second ? channel("v1", "quantitative", title(second.column)) : null,
    adds: draft.adds,
    how: [...draft.said, ...(covered ? partlyCovered(covered, draft.time) : [])].join(" "),
    data: draft.data,
    heading: chartTexts.heading(value.title, [title(settings.across), ...(by && !melted ? [by.title] : [])]),
  };
  return dressed(chart, { ...choice, mark: undefined });
}

/** The server knows the days of its own axis; of another, the rows tell. */
function coveredOn(
  across: number,
  base: Chart | null,
  time: TimeUnit | undefined,
  { columns, rows }: { columns: Column[]; rows: Row[] },
): Covered | null {
  if (base?.covered && columnOf(base.across, columns) === across) return base.covered;
  return time ? coveredBy(rows.map((row) => row[across] ?? null)) : null;
}

/** Groups the rows by place and series, and reduces them to what a chart can show. */
function put(
  settings: Settings,
  additive: boolean,
  { columns, rows }: { columns: Column[]; rows: Row[] },
): Draft {
  const { across, series } = settings;
  const column = columns[across];
  const timed = isTimed(column, rows, across);
  const kind: Kind = timed
    ? "temporal"
    : column && isNumeric(column) && settings.mark === "point"
      ? "quantitative"
      : "nominal";
  const place = channel("a0", kind, column?.name ?? "");
  const said: string[] = [];
  const count = settings.mark === "combo" ? 2 : settings.values.length;
  const values = settings.values.slice(0, count);
  const melted = values.length > 1 && settings.mark !== "combo";
  const seriesOf = (row: Row) => (melted || series === null ? null : nameOf(plain(row[series])));
  let time = settings.time;
  let groups = grouped(rows, across, time, seriesOf);
  const repeated = groups.length < rows.length;
  let hows = values.map(
    ({ how }) => how ?? (repeated && settings.mark !== "point" ? (additive ? "sum" : "mean") : "none"),
  );
  if (timed && groups.length > MOST_POINTS) {
    for (const unit of TIME_UNITS.slice(time ? TIME_UNITS.indexOf(time) + 1 : 0)) {
      if (groups.length <= MOST_POINTS) break;
      time = unit;
      groups = grouped(rows, across, unit, seriesOf);
    }
    hows = hows.map((how) => (how === "none" ? (additive ? "sum" : "mean") : how));
  }
  const raw = hows.every((how) => how === "none") && !time;
  let data: Datum[] = raw
    ? rows.flatMap((row) =>
        dataOf(
          plain(row[across]),
          seriesOf(row),
          values.map((each) => amountOf(row[each.column])),
          melted,
          columns,
          values,
        ),
      )
    : groups.flatMap((group) => {
        const cells = values.map((each, at) => {
          const how = hows[at] ?? "sum";
          return together(
            group.rows.map((row) => row[each.column]),
            how === "none" ? (additive ? "sum" : "mean") : how,
          );
        });
        return dataOf(group.place, group.series, cells, melted, columns, values);
      });
  const [how] = hows;
  if (!raw && how !== undefined && groups.length < rows.length)
    said.push(chartTexts.together(how === "none" ? (additive ? "sum" : "mean") : how, place.title, time));
  const sums = raw
    ? additive || !repeated
    : adds(how === "none" || how === undefined ? (additive ? "sum" : "mean") : how);
  let mark = settings.mark;
  if (raw && repeated && mark !== "point") {
    mark = "point";
    said.push(chartTexts.several(place.title));
  }
  const negative = data.some((datum) => (numberOf(datum.v0) ?? 0) < 0);
  if ((mark === "arc" || mark === "percent") && (!sums || negative)) {
    said.push(chartTexts.noParts);
    mark = "bar";
  }
  if (mark === "stacked" && !sums) {
    said.push(chartTexts.noParts);
    mark = "bar";
  }
  if (mark === "arc" && series !== null) data = data.map((datum) => ({ ...datum, s0: null }));
  if (kind === "nominal" && mark !== "point") {
    const most = mark === "arc" ? MOST_SLICES : MOST_PLACES;
    const kept = mark === "arc" ? MOST_SLICES - 1 : KEPT_PLACES;
    const leading = leaders(data, "a0", { most, kept, sums, title: place.title });
    data = leading.data;
    said.push(...leading.said);
  }
  if (series !== null && !melted && mark !== "arc") {
    const title = columns[series]?.name ?? "";
    const most = mark === "heat" ? MOST_PLACES : MOST_SERIES;
    const leading = leaders(data, "s0", { most, kept: most, sums, title });
    data = leading.data;
    said.push(...leading.said);
  }
  if (data.length > MOST_POINTS) {
    const every = Math.ceil(data.length / MOST_POINTS);
    said.push(chartTexts.thinned(written(every)));
    data = data.filter((_, at) => at % every === 0);
  }
  return { mark, across: place, data, adds: sums, said, time };
}

interface Group {
  place: Datum[string];
  series: string | null;
  rows: Row[];
}

function grouped(
  rows: Row[],
  across: number,
  time: TimeUnit | undefined,
  seriesOf: (row: Row) => string | null,
): Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const cell = row[across] ?? null;
    const place = plain(time ? startOf(cell, time) : cell);
    const series = seriesOf(row);
    const key = JSON.stringify([place, series]);
    const group = groups.get(key) ?? { place, series, rows: [] };
    group.rows.push(row);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** A datum for each value in a series of its own, or one with all values. */
function dataOf(
  place: Datum[string],
  series: string | null,
  cells: (number | null)[],
  melted: boolean,
  columns: Column[],
  values: { column: number }[],
): Datum[] {
  if (melted)
    return cells.map((cell, at) => ({
      a0: place,
      v0: cell,
      s0: columns[values[at]?.column ?? 0]?.name ?? "",
    }));
  return [{ a0: place, v0: cells[0] ?? null, ...(cells.length > 1 && { v1: cells[1] ?? null }), s0: series }];
}

interface Limits {
  most: number;
  kept: number;
  /** Whether the others may be added up. */
  sums: boolean;
  title: string;
}

/** Keeps the names with the highest values; the others become one, or are left out. */
function leaders(
  data: Datum[],
  field: "a0" | "s0",
  { most, kept, sums, title }: Limits,
): { data: Datum[]; said: string[] } {
  const totals = new Map<string, number>();
  for (const datum of data) {
    const name = nameOf(datum[field]);
    totals.set(name, (totals.get(name) ?? 0) + (numberOf(datum.v0) ?? 0));
  }
  if (totals.size <= most) return { data, said: [] };
  const names = [...totals].sort(([, one], [, other]) => other - one).map(([name]) => name);
  const leading = new Set(names.slice(0, kept));
  const left = names.length - kept;
  const other = chartTexts.other(written(left));
  const said = [chartTexts.leaders(written(names.length), title, written(kept), sums ? other : null)];
  const rank = new Map(names.map((name, at) => [name, at]));
  const ranked = (datum: Datum) => rank.get(nameOf(datum[field])) ?? names.length;
  const head = data.filter((datum) => leading.has(nameOf(datum[field])));
  if (field === "a0") head.sort((one, another) => ranked(one) - ranked(another));
  if (!sums) return { data: head, said };
  const rest = new Map<string, Datum>();
  for (const datum of data.filter((each) => !leading.has(nameOf(each[field])))) {
    const key = nameOf(datum[field === "a0" ? "s0" : "a0"]);
    const before = rest.get(key);
    const sum = (name: "v0" | "v1") => (numberOf(before?.[name]) ?? 0) + (numberOf(datum[name]) ?? 0);
    rest.set(key, { ...datum, [field]: other, v0: sum("v0"), ...("v1" in datum && { v1: sum("v1") }) });
  }
  return { data: [...head, ...rest.values()], said };
}

/** How many rows lie in each of about twenty ranges of equal width. */
function binned(values: (number | null)[]): Datum[] {
  const known = values.filter((value) => value !== null);
  const low = known.reduce((least, value) => Math.min(least, value), Infinity);
  const high = known.reduce((most, value) => Math.max(most, value), -Infinity);
  if (known.length === 0) return [];
  const edges = linear([low, high === low ? low + 1 : high], [0, 1], BINS).ticks(BINS);
  const counts = edges.slice(1).map(() => 0);
  for (const value of known) {
    const at = edges.findLastIndex((edge) => edge <= value);
    const bin = Math.min(Math.max(0, at), counts.length - 1);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const format = new Intl.NumberFormat(locale, {
    maximumFractionDigits: 4,
    notation: high >= 1e6 ? "compact" : "standard",
  });
  return counts.map((rows, at) => ({
    a0: `${format.format(edges[at] ?? 0)} – ${format.format(edges[at + 1] ?? 0)}`,
    v0: rows,
  }));
}

/** The first column of dates, else of names, else the first. */
function namesOf(columns: Column[], rows: Row[]): number {
  const all = indices(columns, () => true);
  return all.find((at) => isTimed(columns[at], rows, at)) ?? all.find((at) => !isNumericAt(columns, at)) ?? 0;
}

const isNumericAt = (columns: Column[], at: number) => columns[at] !== undefined && isNumeric(columns[at]);

function indices(columns: Column[], of: (column: Column) => boolean): number[] {
  return columns.flatMap((column, at) => (of(column) ? [at] : []));
}

function channel(field: string, kind: Kind, title: string): Channel {
  return { field, kind, title };
}

function plain(cell: Cell | undefined): Datum[string] {
  if (cell === undefined) return null;
  return typeof cell === "object" && cell !== null ? JSON.stringify(cell) : cell;
}
