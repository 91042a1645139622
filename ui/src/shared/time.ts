/** Times and numbers as people read them. */
import { locale } from "./locale";
import { texts } from "./texts";

const DAY_MS = 86_400_000;
const MONTH = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric" });
const MOMENT = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const TIME = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const TENTHS = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const NUMBER = new Intl.NumberFormat(locale);

export const count = (value: number) => NUMBER.format(value);
export const moment = (time: string) => MOMENT.format(new Date(time));

export const timeOf = (time: string) => TIME.format(new Date(time));
export const dayOf = (time: string) => DAY.format(new Date(time));

/** 40 ms, 0.4 s, 12 s, 2 min 5 s. */
export function duration(milliseconds: number): string {
  if (milliseconds < 100) return `${Math.max(0, Math.round(milliseconds))} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${TENTHS.format(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** The heading above the sessions of a day. */
export function groupOf(time: string, now: Date): string {
  const { groups } = texts.sessions;
  const days = (startOfDay(now) - startOfDay(new Date(time))) / DAY_MS;
  if (days < 0.5) return groups.today;
  if (days < 1.5) return groups.yesterday;
  if (days < 7.5) return groups.week;
  return days < 30.5 ? groups.month : MONTH.format(new Date(time));
}

function startOfDay(time: Date): number {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime();
}
