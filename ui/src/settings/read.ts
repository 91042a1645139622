import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Problem } from "../api/types";

/** What a request answers, or its problem; `again` sends it once more. Both are null meanwhile. */
export function useRead<Answer>(read: () => Promise<Answer>) {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const again = () => {
    setProblem(null);
    read().then(setAnswer, (error: unknown) => setProblem(asProblem(error)));
  };
  useEffect(again, []);
  return { answer, problem, again };
}
