/** The routes of schedules and notices. Every function raises what `call` raises. */
import { call, type Page } from "../api/client";
import type { Notice, Schedule } from "../api/types";

export interface NewSchedule {
  board_id: string;
  pin_id: string | null;
  cron: string;
  time_zone: string;
  condition: Schedule["condition"];
  webhook_url?: string;
}

/** Schedules of a board or, with a pin, of that pin; the newest first. */
export async function listSchedules(boardId: string, pinId: string | null): Promise<Schedule[]> {
  const path = `schedules?limit=100&board_id=${encodeURIComponent(boardId)}`;
  const { items } = await call<Page<Schedule>>("GET", path);
  return items.filter((each) => each.pin_id === pinId);
}

export const addSchedule = (schedule: NewSchedule) => call<Schedule>("POST", "schedules", schedule);
export const pauseSchedule = (id: string, paused: boolean) =>
  call<Schedule>("PATCH", `schedules/${encodeURIComponent(id)}`, { paused });
export const deleteSchedule = (id: string) => call("DELETE", `schedules/${encodeURIComponent(id)}`);

export interface NoticesPage extends Page<Notice> {
  unread: number;
}

/** The latest notices, and how many are unread. */
export const listNotices = () => call<NoticesPage>("GET", "notices?limit=20");
export const markRead = (notice: Notice) => call("POST", "notices/read", { notice_id: notice.id });
