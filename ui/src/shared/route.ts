/** Where the analyst is, as the address says it. */
import { computed, signal } from "@preact/signals";

export type Route =
  | { page: "start" }
  | { page: "session"; sessionId: string }
  | { page: "connections" }
  | { page: "connection"; connectionId: string };

const path = signal(location.pathname);
window.addEventListener("popstate", () => {
  path.value = location.pathname;
});

export const route = computed<Route>(() => {
  const [, first, second] = path.value.split("/");
  if (first === "sessions" && second) return { page: "session", sessionId: second };
  if (first === "connections" && second) return { page: "connection", connectionId: second };
  return { page: first === "connections" ? "connections" : "start" };
});

export function go(to: string, how: "push" | "replace" = "push"): void {
  history[how === "push" ? "pushState" : "replaceState"](null, "", to);
  path.value = to;
}

/** For links: follows them without reloading the page, unless a new tab is wanted. */
export function onLinkClick(event: MouseEvent): void {
  const link = event.currentTarget as HTMLAnchorElement;
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.pathname);
}
