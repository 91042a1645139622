import { asProblem } from "../api/problem";
import { say } from "./toasts";

/** For what the analyst has started and nobody waits for: if it fails, that is said. */
export function orSay(done: Promise<unknown>): void {
  done.catch((error: unknown) => say(asProblem(error).detail));
}
