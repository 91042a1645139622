import { ArrowRight } from "lucide";
import { useEffect, useState } from "preact/hooks";
import type { Connection } from "../api/types";
import { allTables } from "../connections/connections";
import { Icon } from "../shared/icon";
import { texts } from "../shared/texts";
import { starters, withOwn } from "./starters";
import "./starter_list.css";

/** Questions to begin with; none if the schema suggests none or cannot be read. */
export function StarterList({
  connection,
  onAsk,
}: {
  connection: Connection;
  onAsk: (question: string) => void;
}) {
  const [questions, setQuestions] = useState<string[] | null>(null);
  const own = connection.starters;
  useEffect(() => {
    allTables(connection).then(
      (tables) => setQuestions(withOwn(own, starters(tables))),
      () => setQuestions(own),
    );
  }, [connection.id, own.join("\n")]);
  if (questions === null) return <p class="quiet starters-reading">{texts.start.reading}</p>;
  if (questions.length === 0) return null;
  return (
    <section class="starters" aria-label={texts.start.examples}>
      <h2>{texts.start.examples}</h2>
      {questions.map((question) => (
        <button type="button" key={question} onClick={() => onAsk(question)}>
          {question}
          <Icon of={ArrowRight} size={15} />
        </button>
      ))}
    </section>
  );
}
