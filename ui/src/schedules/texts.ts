/** Texts of schedules, fetched with their dialog. */
import type { Notice, Schedule } from "../api/types";
import { count, moment } from "../shared/time";

export const scheduleTexts = {
  lead: "The same SQL runs at these times, with your rights and without a model.",
  every: "Run",
  times: [
    { cron: "0 * * * *", label: "every hour" },
    { cron: "0 8 * * *", label: "every day at 8:00" },
    { cron: "0 8 * * 1", label: "every Monday at 8:00" },
    { cron: "0 8 1 * *", label: "on the first of each month at 8:00" },
  ],
  own: "by a cron expression",
  cron: "Cron expression",
  zone: "Time zone",
  when: "Tell me",
  always: "after each run",
  kinds: {
    above: "when a value is more than",
    below: "when a value is less than",
    changed: "when a value changes by more than, in percent",
    no_rows: "when there are no rows",
  },
  column: "Value in the first row of",
  bound: "Bound",
  webhook: "Webhook, if a program shall get it, too",
  kept: (host: string) => `as it is: ${host}`,
  add: "Schedule",
  save: "Save",
  edit: (times: string) => `Change ${times}`,
  changed: "The schedule is changed.",
  remove: (times: string) => `Remove ${times}`,
  pause: (times: string) => `Pause ${times}`,
  resume: (times: string) => `Resume ${times}`,
  paused: "paused",
  removed: "The schedule is removed.",
  added: "It is scheduled.",
  next: (time: string, zone: string) => `next on ${time} (${zone})`,
  more: "Show older ones",
  noneAtAll: "Nothing is scheduled yet. Schedule a board or a pin from its menu.",
  running: "runs now",
  sent: (host: string) => `and a webhook to ${host}`,
  last: (time: string, outcome: string) => `last on ${time}: ${outcome}`,
  outcomes: {
    ran: "it ran",
    met: "the condition was met",
    not_met: "the condition was not met",
    failed: "it failed",
  },
  conditions: {
    above: (column: string, value: string) => `when ${column} is more than ${value}`,
    below: (column: string, value: string) => `when ${column} is less than ${value}`,
    changed: (column: string, value: string) => `when ${column} changes by more than ${value} %`,
    no_rows: () => "when there are no rows",
  },
  secret: "The secret that signs the webhook. It is shown this once:",
  boardGone: "A deleted board",
  none: "Nothing is scheduled yet.",
  happened: "What happened",
  unread: (count: number) => `${count} new`,
  read: "Mark as read",
  missed: (count: number) => (count === 1 ? "1 time before was missed" : `${count} times before were missed`),
};

/** The times of a schedule, in words where there are some. */
export function timesOf(schedule: Pick<Schedule, "cron">): string {
  return scheduleTexts.times.find((each) => each.cron === schedule.cron)?.label ?? schedule.cron;
}

/** The next time of a schedule, in its own time zone. */
export function nextOf(time: string, timeZone: string): string {
  const style = { dateStyle: "medium", timeStyle: "short", timeZone } as const;
  return scheduleTexts.next(new Intl.DateTimeFormat(undefined, style).format(new Date(time)), timeZone);
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

/** What a notice says, in a sentence. */
export function sentenceOf(notice: Notice): string {
  const parts = [outcomeOf(notice)];
  if (notice.missed > 0) parts.push(scheduleTexts.missed(notice.missed));
  return `${parts.join("; ")}.`;
}

const rowsOf = (rows: number) => (rows === 1 ? "1 row" : `${count(rows)} rows`);

function outcomeOf({ kind, condition, value, failure, failed_pins, row_count }: Notice): string {
  if (kind === "failed") {
    const pins = failed_pins > 0 ? ` (${failed_pins} pins)` : "";
    return `It failed${pins}: ${(failure?.detail ?? "").replace(/\.$/, "")}`;
  }
  if (kind === "met") {
    return condition?.kind === "no_rows"
      ? "There are no rows"
      : `${condition?.column ?? ""} is ${String(value)}`;
  }
  if (kind === "missed") return "It did not run";
  return row_count === null ? "It ran" : `It ran: ${rowsOf(row_count)}`;
}
