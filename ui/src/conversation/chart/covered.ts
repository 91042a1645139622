/** The days that the data of a time axis covers. Reports say the same of them. */
import type { Cell } from "../../api/types";
import { firstDayOf } from "./aggregate";
import { type Covered, isDay, TIME_UNITS, type TimeUnit } from "./intent";
import { timeOf } from "./numbers";
import { chartTexts } from "./texts";

const DAY_MS = 86_400_000;
/** The most that a unit has. */
const DAYS: Record<TimeUnit, number> = { day: 1, week: 7, month: 31, quarter: 92, year: 366 };
/** The share of periods of a unit that have a row, if dates stand for that unit. */
const DENSE = 0.5;

/** The days of the periods that cells stand for; null if they are no dates. */
export function coveredBy(cells: Cell[]): Covered | null {
  const known = cells.filter((cell) => cell !== null).map(String);
  const isMonth = known.every((cell) => cell.length === 7);
  const days = known.map((cell) => (isMonth ? `${cell}-01` : cell.slice(0, 10)));
  if (days.length === 0 || !days.every(isDay)) return null;
  const distinct = [...new Set(days)].sort();
  const unit = isMonth ? "month" : unitOf(distinct);
  const [first = ""] = distinct;
  return { unit, first, last: lastDayOf(distinct.at(-1) ?? first, unit), running: false };
}

/** Says which of the first and the last period of a unit, the axis's own or a coarser one, is not whole. */
export function partlyCovered({ unit: own, first, last, running }: Covered, unit: TimeUnit = own): string[] {
  const coarse = TIME_UNITS.indexOf(unit) < TIME_UNITS.indexOf(own) ? own : unit;
  const start = (day: string) => dayOf(dayOf(day, own), coarse);
  const said: string[] = [];
  if (first > start(first)) said.push(chartTexts.begins(coarse, first));
  if (running) said.push(chartTexts.running(coarse, last));
  else if (last < lastDayOf(start(last), coarse)) said.push(chartTexts.ends(coarse, last));
  return said;
}

const dayOf = (day: string, unit: TimeUnit) => firstDayOf(timeOf(day), unit);

/** Years, months or weeks if all days are first days of these and most have one; else days. */
function unitOf(days: string[]): TimeUnit {
  const units = ["year", "month", "week"] as const;
  const [first = ""] = days;
  const last = days.at(-1) ?? first;
  const isDense = (unit: TimeUnit) => {
    let periods = 0;
    for (let time = timeOf(first); time <= timeOf(last); periods++)
      time = timeOf(lastDayOf(firstDayOf(time, unit), unit)) + DAY_MS;
    return days.length >= DENSE * periods;
  };
  const fits = (unit: TimeUnit) =>
    days.length > (unit === "month" ? 1 : 2) &&
    days.every((day) => dayOf(day, unit) === day) &&
    isDense(unit);
  return units.find(fits) ?? "day";
}

function lastDayOf(start: string, unit: TimeUnit): string {
  let time = timeOf(start) + (DAYS[unit] - 1) * DAY_MS;
  while (firstDayOf(time, unit) !== start) time -= DAY_MS;
  return firstDayOf(time, "day");
}
