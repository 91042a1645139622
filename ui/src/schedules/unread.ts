/** The number of unread notices, for the sidebar. */
import { signal } from "@preact/signals";
import { call } from "../api/client";

export const unread = signal(0);

/** Counts again. After a failure the number stays as it was: nothing waits for it. */
export function countUnread(): void {
  call<{ unread: number }>("GET", "notices?limit=1").then(
    (page) => void (unread.value = page.unread),
    () => undefined,
  );
}
