import { asProblem } from "../api/problem";
import { say } from "./toasts";

/** For actions without a waiting caller: shows an error if one fails. */
export function orSay(done: Promise<unknown>): void {
  done.catch((error: unknown) => say(asProblem(error).detail));
}
