/** The current view, read from the address. */
import { computed, signal } from "@preact/signals";

export type Route =
  | { page: "start" }
  | { page: "session"; sessionId: string }
  | { page: "boards" }
  | { page: "board"; boardId: string }
  | { page: "links" }
  | { page: "schedules" }
  | { page: "shared"; linkId: string }
  | { page: "connections" }
  | { page: "rules" }
  | { page: "tools" }
  | { page: "memory" }
  | { page: "settings" }
  | { page: "connection"; connectionId: string }
  | { page: "unknown" };

const path = signal(location.pathname);

/** The part of the address after `#`, and what the history kept with it. It counts each arrival, so that the
 * same one is sought again. */
export const fragment = signal({ id: location.hash.slice(1), state: history.state as unknown, arrival: 0 });

window.addEventListener("popstate", arrive);

const leaving = new Set<() => void>();

/** Calls back before another place is gone to. Returns the function that ends it. */
export function onLeave(left: () => void): () => void {
  leaving.add(left);
  return () => leaving.delete(left);
}

function arrive(): void {
  path.value = location.pathname;
  const arrival = fragment.value.arrival + 1;
  fragment.value = { id: location.hash.slice(1), state: history.state as unknown, arrival };
}

export const route = computed<Route>(() => {
  const [, first, second] = path.value.split("/");
  if (first === "sessions" && second) return { page: "session", sessionId: second };
  if (first === "connections" && second) return { page: "connection", connectionId: second };
  if (first === "shared" && second) return { page: "shared", linkId: second };
  if (first === "boards") return second ? { page: "board", boardId: second } : { page: first };
  const pages = ["connections", "rules", "tools", "memory", "links", "schedules", "settings"] as const;
  const page = pages.find((each) => each === first);
  if (page) return { page };
  return { page: first ? "unknown" : "start" };
});

/** The board that a question on the start page is asked for, as the address names it. */
export function boardToFill(): string | undefined {
  return /^board=(.+)$/.exec(fragment.value.id)?.[1];
}

export function go(to: string, how: "push" | "replace" = "push"): void {
  for (const left of leaving) left();
  history[how === "push" ? "pushState" : "replaceState"](null, "", to);
  arrive();
}

/** Names a part of the page in the address, without going there. */
export function name(part: string): void {
  history.replaceState(history.state, "", `${location.pathname}#${part}`);
}

/** Click handler for links: follows them without a reload, unless the user wants a new tab. */
export function onLinkClick(event: MouseEvent): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  // Links in a picture have no `pathname`.
  const { pathname, hash } = new URL(
    (event.currentTarget as Element).getAttribute("href") ?? "",
    location.href,
  );
  go(pathname + hash);
}
