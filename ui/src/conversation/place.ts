/** The reader's place in a session: the exchange at the top and how far it is scrolled, kept for each entry of
 * the browser's history and for each session, so that going back, reloading and coming again lead to it. */
import type { Signal } from "@preact/signals";
import { onLeave } from "../shared/route";

/** An exchange at the top of what is seen, by the id of its answer, and the distance of its top in pixels. */
export interface Place {
  message: string;
  top: number;
}

const SCROLLED_MS = 120;
/** How long a place stays where it is before it counts as settled. */
const SETTLING_MS = 1_500;
const keyOf = (sessionId: string) => `kai.place.${sessionId}`;
const scroller = () => document.getElementById("main");

/** The kept place of a history entry, by its state on arrival, and that of the session: `latest` if the reader
 * was at the latest exchange. Null if nothing is kept. */
export function keptPlace(
  sessionId: string,
  state: unknown,
): { entry: Place | "latest" | null; session: Place | null } {
  const entry = state as { place?: Place | "latest" } | null;
  const kept = sessionStorage.getItem(keyOf(sessionId));
  return { entry: entry?.place ?? null, session: kept === null ? null : (JSON.parse(kept) as Place) };
}

/** Keeps the place in a list of exchanges while it is scrolled. `at` is the number of the exchange at the top.
 * Returns the function that ends it. */
export function keepPlace(sessionId: string, list: HTMLElement, at: Signal<number>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const keep = () => {
    const articles = [...list.querySelectorAll<HTMLElement>(":scope > .exchange")];
    const begins = (each: HTMLElement) => each.getBoundingClientRect().top < window.innerHeight / 3;
    const number = Math.max(0, articles.findLastIndex(begins));
    const article = articles[number];
    if (!article) return;
    at.value = number;
    const message = article.dataset["message"];
    if (number === articles.length - 1 || !message) {
      sessionStorage.removeItem(keyOf(sessionId));
      history.replaceState({ ...(history.state as object | null), place: "latest" }, "");
      return;
    }
    const place: Place = { message, top: article.getBoundingClientRect().top };
    sessionStorage.setItem(keyOf(sessionId), JSON.stringify(place));
    history.replaceState({ ...(history.state as object | null), place }, "");
  };
  const onScroll = () => {
    clearTimeout(timer);
    timer = setTimeout(keep, SCROLLED_MS);
  };
  const main = scroller();
  main?.addEventListener("scroll", onScroll, { passive: true });
  const stay = onLeave(keep);
  return () => {
    stay();
    clearTimeout(timer);
    main?.removeEventListener("scroll", onScroll);
  };
}

/** Scrolls to a place, and again while content above it still arrives, until the reader moves. */
export function returnTo(place: Place): void {
  const main = scroller();
  const article = main?.querySelector<HTMLElement>(`[data-message="${CSS.escape(place.message)}"]`);
  if (!main || !article) return;
  hold(main, () => {
    const off = article.getBoundingClientRect().top - place.top;
    if (Math.abs(off) >= 1) main.scrollTop += off;
  });
}

/** Scrolls an exchange to the top, and again while what is above it takes its height, until the reader moves. */
export function bringToTop(article: Element): void {
  const main = scroller();
  if (main) hold(main, () => article.scrollIntoView({ block: "start" }));
}

/** Holds the latest place. */
let held = new AbortController();

/** Scrolls in each frame until nothing has moved for a while, the reader moves, or another place is held. */
function hold(main: HTMLElement, scroll: () => void): void {
  held.abort();
  const holding = new AbortController();
  held = holding;
  const { signal } = holding;
  const stop = () => holding.abort();
  let end = performance.now() + SETTLING_MS;
  for (const moved of ["wheel", "touchmove", "keydown", "pointerdown"])
    window.addEventListener(moved, stop, { passive: true, signal });
  const settle = () => {
    if (signal.aborted) return;
    const before = main.scrollTop;
    scroll();
    if (main.scrollTop !== before) end = performance.now() + SETTLING_MS;
    if (main.isConnected && performance.now() < end) requestAnimationFrame(settle);
    else stop();
  };
  settle();
}
