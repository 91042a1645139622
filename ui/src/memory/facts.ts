/** Facts: read, kept, changed and forgotten. What was done can be undone. */
import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api/client";
import { asProblem } from "../api/problem";
import type { Fact, Problem } from "../api/types";
import { isLeaving, removeLater } from "../shared/later";
import { orSay } from "../shared/or_say";
import { say } from "../shared/toasts";
import { memoryTexts } from "./texts";

export const SCOPES = ["session", "workspace", "user", "shared"] as const satisfies Fact["scope"][];
/** After the last letter, so that not every letter is a search. */
const PAUSE_MS = 300;

/** The facts that are wanted, page by page; an older reply never replaces a newer one. */
export function useFacts(wanted: api.WantedFacts, version: number) {
  const [facts, setFacts] = useState<Fact[] | null>(null);
  const [older, setOlder] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const asked = useRef(0);
  const load = async (cursor?: string) => {
    asked.current += 1;
    const turn = asked.current;
    setProblem(null);
    try {
      const page = await api.listFacts(wanted, cursor);
      if (turn !== asked.current) return;
      const shown = page.items.filter((each) => !isLeaving(each.id));
      setFacts((before) => (cursor ? [...(before ?? []), ...shown] : shown));
      setOlder(page.next_cursor);
    } catch (error) {
      if (turn === asked.current) setProblem(asProblem(error));
    }
  };
  useEffect(() => {
    const timer = setTimeout(() => void load(), wanted.q ? PAUSE_MS : 0);
    return () => clearTimeout(timer);
  }, [wanted, version]);
  return { facts, older, problem, load };
}

/** Forgets a fact, unless that is undone. Calls back whenever the facts have changed. */
export function forget(fact: Fact, onChange: () => void): void {
  const { forgotten } = memoryTexts.facts;
  removeLater(fact.id, forgotten(fact.text), () => api.forgetFact(fact.id), onChange);
}

/** Says what was kept, and offers to undo it: to forget it, or to bring back the fact that it replaced. */
export function sayKept(kept: Fact, how: { undo: "forget" | Fact | null; onChange: () => void }): void {
  const { undo, onChange } = how;
  const { kept: said, scopes } = memoryTexts.facts;
  const back = () => {
    if (undo === null) return;
    const undone =
      undo === "forget" ? api.forgetFact(kept.id) : api.changeFact(undo.id, { status: "active" });
    orSay(undone.then(onChange));
  };
  say(said(kept.text, scopes[kept.scope]), undo === null ? undefined : back);
}

/** Names between commas. */
export const namesIn = (words: string) => words.split(",").flatMap((each) => each.trim() || []);
