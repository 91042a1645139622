import { useRef, useState } from "preact/hooks";
import { asProblem } from "../../api/problem";
import type { Changes } from "./chart_tools";
import type { ChartChoice } from "../../api/types";
import { merged } from "./choice";
import { chartFormTexts } from "./chart_form_texts";

export interface Changing {
  busy: boolean;
  /** Why the last change was not made, or what of it was not understood; empty if all was. */
  reply: string;
  canUndo: boolean;
  change: (part: ChartChoice) => void;
  undo: () => void;
  reset: () => void;
  /** Returns whether all of the words was understood and done. */
  say: (words: string) => Promise<boolean>;
  /** Draws a specification of the reader's own. */
  write: (text: string) => void;
}

/** Changes one after the other, each a step that can be taken back. A refused one changes nothing. */
export function useChanges(choice: ChartChoice | null, { choose, say }: Changes): Changing {
  const steps = useRef<(ChartChoice | null)[]>([]);
  const latest = useRef(choice);
  const before = useRef<Promise<unknown>>(Promise.resolve());
  const [busy, work] = useState(false);
  const [reply, answer] = useState("");
  latest.current = choice;
  const attempt = async (what: () => Promise<string>): Promise<boolean> => {
    work(true);
    answer("");
    try {
      const said = await what();
      answer(said);
      return said === "";
    } catch (error) {
      answer(error instanceof SyntaxError ? chartFormTexts.noJson : asProblem(error).detail);
      return false;
    } finally {
      work(false);
    }
  };
  const run = (what: () => Promise<string>): Promise<boolean> => {
    const done = before.current.then(() => attempt(what));
    before.current = done;
    return done;
  };
  const take = async (next: ChartChoice | null) => {
    const replaced = latest.current;
    await choose(next);
    latest.current = next;
    steps.current.push(replaced);
    return "";
  };
  const undo = async () => {
    const step = steps.current.at(-1);
    if (step === undefined) return "";
    await choose(step);
    latest.current = step;
    steps.current.pop();
    return "";
  };
  const sayIt = async (words: string) => {
    const { choice: next, refusal, not_understood } = await say(words);
    if (refusal !== null || next === null) return refusal ?? chartFormTexts.notUnderstood([words]);
    await take(next);
    return not_understood.length > 0 ? chartFormTexts.notUnderstood(not_understood) : "";
  };
  const read = (text: string) => ({ specification: JSON.parse(text) as ChartChoice["specification"] });
  return {
    busy,
    reply,
    canUndo: steps.current.length > 0,
    change: (part) => void run(() => take(merged(latest.current, part))),
    undo: () => void run(undo),
    reset: () => void run(() => take(null)),
    say: (words) => run(() => sayIt(words)),
    write: (text) => void run(async () => take(read(text))),
  };
}
