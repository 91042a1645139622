/** Times and numbers as people read them. */
import { locale } from "./locale";
import { texts } from "./texts";

const DAY_MS = 86_400_000;
const DAY = { day: "numeric", month: "short", year: "numeric" } as const;
const TIME = { hour: "2-digit", minute: "2-digit" } as const;
/** Forms of dates and times, with those of the texts and pictures of the server among them. */
const FORMS = {
  /** 24 Nov 2026 */
  day: DAY,
  /** 24 Nov */
  dayOfYear: { day: "numeric", month: "short" },
  /** Nov 2026 */
  month: { month: "short", year: "numeric" },
  /** November 2026 */
  longMonth: { month: "long", year: "numeric" },
  /** Tuesday */
  weekday: { weekday: "long" },
  /** 14:05 */
  time: TIME,
  /** 24 Nov 2026, 14:05 */
  moment: { ...DAY, ...TIME },
  /** 24 Nov 2026, 14:05:30 */
  second: { ...DAY, ...TIME, second: "2-digit" },
} as const;
type Form = keyof typeof FORMS;
/** English has one form of date, in which the server writes, too; a month's place must not be in doubt. */
const DATE_LOCALE = texts.language === "en" ? "en-GB" : locale;
const formats = new Map<string, Intl.DateTimeFormat>();
const TENTHS = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const NUMBER = new Intl.NumberFormat(locale);

export const count = (value: number) => NUMBER.format(value);
export const tenths = (value: number) => TENTHS.format(value);

/** Every date and time that people read, in the reader's language and time zone, or in that given. */
export function dateText(time: string | Date, form: Form, timeZone?: string): string {
  return formatOf(form, timeZone).format(new Date(time));
}

/** The days from one to another: 28 Oct – 24 Nov 2026. */
export function daysText(since: Date, until: Date, form: "day" | "dayOfYear"): string {
  return formatOf(form).formatRange(since, until);
}

export const moment = (time: string) => dateText(time, "moment");

export const readerZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

function formatOf(form: Form, timeZone?: string): Intl.DateTimeFormat {
  const key = `${form} ${timeZone ?? ""}`;
  const known = formats.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat(DATE_LOCALE, { ...FORMS[form], ...(timeZone && { timeZone }) });
  formats.set(key, made);
  return made;
}

/** 40 ms, 0.4 s, 12 s, 2 min 5 s. */
export function duration(milliseconds: number): string {
  if (milliseconds < 100) return `${Math.max(0, Math.round(milliseconds))} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${tenths(seconds)} s`;
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
  return days < 30.5 ? groups.month : dateText(time, "longMonth");
}

function startOfDay(time: Date): number {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime();
}
