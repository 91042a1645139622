import { useEffect, useState } from "preact/hooks";
import { readFact } from "../api/client";
import type { NamedFact } from "../api/types";
import type { Answer } from "../conversation/model";
import { onLinkClick } from "../shared/route";
import { turnTexts } from "./turn_texts";

/** The facts that the model has read with the question, each with a link to it. */
export default function Remembered({ answer }: { answer: Answer }) {
  const facts = useNamed(answer.remembered, answer.used);
  if (facts.length === 0) return null;
  return (
    <p class="understood">
      <span>{turnTexts.remembered}</span>{" "}
      {facts.map((each, index) => (
        <>
          {index > 0 && " · "}
          <a href={`/memory#${each.id}`} onClick={onLinkClick}>
            {each.text}
          </a>
        </>
      ))}
    </p>
  );
}

/** Facts by their ids. Those that the stream has not named are read; forgotten ones are left out. */
function useNamed(ids: string[], named: NamedFact[]): NamedFact[] {
  const [read, setRead] = useState<NamedFact[]>([]);
  const missing = ids.filter((id) => !named.some((each) => each.id === id));
  useEffect(() => {
    void Promise.allSettled(missing.map(readFact)).then((found) => {
      setRead(found.flatMap((each) => (each.status === "fulfilled" ? [each.value] : [])));
    });
  }, [missing.join()]);
  return ids.flatMap((id) => [...named, ...read].find((each) => each.id === id) ?? []);
}
