/** Things that leave the page at once, and the server when their undo expires or the page is left. */
import { asProblem } from "../api/problem";
import { say, UNDO_MS } from "./toasts";

interface Leaving {
  timer: ReturnType<typeof setTimeout>;
  really: () => Promise<void>;
}

const leaving = new Map<string, Leaving>();

export const isLeaving = (key: string) => leaving.has(key);

/** Says that something is gone and offers to undo it. `really` must outlive the page (`keepalive`). */
export function removeLater(
  key: string,
  message: string,
  really: () => Promise<void>,
  onChange: () => void,
): void {
  const timer = setTimeout(() => void finish(key).then(onChange), UNDO_MS);
  leaving.set(key, { timer, really });
  onChange();
  say(message, () => {
    clearTimeout(timer);
    leaving.delete(key);
    onChange();
  });
}

async function finish(key: string): Promise<void> {
  const found = leaving.get(key);
  if (!found) return;
  clearTimeout(found.timer);
  try {
    await found.really();
  } catch (error) {
    const problem = asProblem(error);
    if (problem.status !== 404) say(problem.detail); // another tab has removed it already
  }
  leaving.delete(key);
}

window.addEventListener("pagehide", () => {
  for (const key of leaving.keys()) void finish(key);
});
