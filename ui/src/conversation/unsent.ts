/** Questions that are not sent yet, by place: a session, or the start page. They outlive a reload and a visit
 * elsewhere. */
import { signInNeeded } from "../api/credential";

const keyOf = (place: string) => `kai.unsent.${place}`;

export function unsentAt(place: string): string {
  return sessionStorage.getItem(keyOf(place)) ?? "";
}

export function keepUnsent(place: string, words: string): void {
  if (words) sessionStorage.setItem(keyOf(place), words);
  else sessionStorage.removeItem(keyOf(place));
}

/** Keeps a question until the server has taken it, if the page is left to sign in meanwhile. */
export function keptUntil<Answer>(taken: Promise<Answer>, place: string, question: string): Promise<Answer> {
  const keep = () => {
    if (signInNeeded.value) keepUnsent(place, question);
  };
  window.addEventListener("pagehide", keep);
  return taken.finally(() => window.removeEventListener("pagehide", keep));
}
