/** The routes of schedules and notices. Every function raises what `call` raises. */
import { call, type Page } from "../api/client";
import type { Notice, Schedule, TriedTarget } from "../api/types";
import type { NewTarget } from "./targets_field";

export interface NewSchedule {
  board_id: string;
  pin_id: string | null;
  cron: string;
  time_zone: string;
  condition?: Schedule["condition"];
  webhook_url?: string;
  targets?: NewTarget[];
  language?: Schedule["language"];
}

/** Schedules of a board or, with a pin, of that pin; the newest first. */
export async function listSchedules(boardId: string, pinId: string | null): Promise<Schedule[]> {
  const path = `schedules?limit=100&board_id=${encodeURIComponent(boardId)}`;
  const { items } = await call<Page<Schedule>>("GET", path);
  return items.filter((each) => each.pin_id === pinId);
}

/** A page of all schedules, the newest first. */
export const pageOfSchedules = (cursor?: string) =>
  call<Page<Schedule>>("GET", `schedules?limit=20${after(cursor)}`);

export const addSchedule = (schedule: NewSchedule) => call<Schedule>("POST", "schedules", schedule);
export const readSchedule = (id: string) => call<Schedule>("GET", `schedules/${encodeURIComponent(id)}`);

export type ScheduleChange = Partial<Omit<NewSchedule, "board_id" | "pin_id">> & { paused?: boolean };

/** Changes a schedule, with a version only that one. */
export const changeSchedule = (id: string, change: ScheduleChange, version?: number) =>
  call<Schedule>("PATCH", `schedules/${encodeURIComponent(id)}`, change, version);
export const deleteSchedule = (id: string) => call("DELETE", `schedules/${encodeURIComponent(id)}`);

/** Sends a test to the targets of a schedule. */
export const tryTargets = async (id: string) =>
  (await call<{ items: TriedTarget[] }>("POST", `schedules/${encodeURIComponent(id)}/test`)).items;

const after = (cursor?: string) => (cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`);

export interface NoticesPage extends Page<Notice> {
  unread: number;
}

/** A page of notices, the latest first, and how many are unread. */
export const listNotices = (cursor?: string) => call<NoticesPage>("GET", `notices?limit=20${after(cursor)}`);
export const markRead = (notice: Notice) => call("POST", "notices/read", { notice_id: notice.id });
