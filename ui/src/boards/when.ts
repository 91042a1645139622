/** Times of rows, as a board shows them. */
import type { Pin } from "../api/types";
import { dateText, moment } from "../shared/time";
import { boardTexts } from "./texts";

/** 20:08 today, 18 Nov 2026 on another day. */
export function shortly(time: string, now = new Date()): string {
  const then = new Date(time);
  return dateText(then, then.toDateString() === now.toDateString() ? "time" : "day");
}

/** How old the oldest rows of a board are. Empty without rows. */
export function rowsOf(pins: readonly Pin[]): string {
  const times = pins.flatMap((each) => each.ran_at ?? []).sort();
  const [oldest] = times;
  return oldest === undefined ? "" : boardTexts.asOf(moment(oldest), times.length > 1);
}
