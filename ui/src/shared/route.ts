/** The current view, read from the address. */
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

/** Click handler for links: follows them without a reload, unless the user wants a new tab. */
export function onLinkClick(event: MouseEvent): void {
  const link = event.currentTarget as HTMLAnchorElement;
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.pathname);
}
