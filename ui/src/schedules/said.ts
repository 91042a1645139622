/** Schedules and their notices in words. */
import type { Notice, Schedule } from "../api/types";
import { count, dateText, moment } from "../shared/time";
import { commentTexts } from "../comments/texts";
import { targetTexts } from "./targets_texts";
import { scheduleTexts } from "./texts";

const TIMES: Partial<Record<string, string>> = scheduleTexts.times;

/** The times of a schedule, in words where there are some. */
export function timesOf(schedule: Pick<Schedule, "cron">): string {
  return TIMES[schedule.cron] ?? schedule.cron;
}

/** The next time of a schedule, in its own time zone. */
export function nextOf(time: string, timeZone: string): string {
  return scheduleTexts.next(dateText(time, "moment", timeZone), timeZone);
}

/** When a schedule tells of its runs, if not always. */
export function conditionOf(condition: Schedule["condition"]): string {
  if (condition === null) return "";
  return scheduleTexts.conditions[condition.kind](condition.column ?? "", count(condition.value ?? 0));
}

/** When a schedule has run last, and how that ended. */
export function lastRunOf({ ended_at, outcome }: NonNullable<Schedule["last_run"]>): string {
  return scheduleTexts.last(moment(ended_at), scheduleTexts.outcomes[outcome]);
}

/** Where the thing of a notice is seen. */
export function addressOf({ mention, session_id, board_id }: Notice): string {
  if (mention?.link_id) return `/shared/${mention.link_id}`;
  return session_id === null ? `/boards/${board_id ?? ""}` : `/sessions/${session_id}`;
}

/** What a notice says, in a sentence. */
export function sentenceOf(notice: Notice): string {
  if (notice.mention) return commentTexts.mentioned(notice.author ?? "");
  const parts = [outcomeOf(notice)];
  if (notice.missed > 0) parts.push(scheduleTexts.missed(notice.missed));
  return `${parts.join("; ")}.`;
}

/** Why a notice has not come to some of those it is sent to. */
export function notSentOf({ webhook, webhook_error, deliveries }: Notice): string[] {
  const all = [
    ...(webhook === null ? [] : [{ label: targetTexts.webhook, state: webhook, error: webhook_error }]),
    ...deliveries,
  ];
  return all.flatMap(({ label, state, error }) => {
    if (error === null || state === "delivered") return [];
    return state === "waiting" ? targetTexts.waiting(label, error) : targetTexts.notDelivered(label, error);
  });
}

function outcomeOf({ kind, condition, value, failure, failed_pins, row_count }: Notice): string {
  const { failed, isNow, noRows, didNotRun, ran, ranWith } = scheduleTexts;
  if (kind === "failed") return `${failed(failed_pins)}: ${(failure?.detail ?? "").replace(/\.$/, "")}`;
  if (kind === "met") {
    return condition?.kind === "no_rows" ? noRows : isNow(condition?.column ?? "", String(value));
  }
  if (kind === "missed") return didNotRun;
  return row_count === null ? ran : ranWith(row_count);
}
