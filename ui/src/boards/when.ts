/** Times of rows, as a board shows them. */
import type { Pin } from "../api/types";
import { locale } from "../shared/locale";
import { moment } from "../shared/time";
import { boardTexts } from "./texts";

const CLOCK = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });

/** 20:08 today, 18 Nov 2026 on another day. */
export function shortly(time: string, now = new Date()): string {
  const then = new Date(time);
  return (then.toDateString() === now.toDateString() ? CLOCK : DAY).format(then);
}

/** How old the oldest rows of a board are. Empty without rows. */
export function rowsOf(pins: readonly Pin[]): string {
  const times = pins.flatMap((each) => each.ran_at ?? []).sort();
  const [oldest] = times;
  return oldest === undefined ? "" : boardTexts.asOf(moment(oldest), times.length > 1);
}
