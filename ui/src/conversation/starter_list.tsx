import { ArrowRight } from "lucide";
import { useEffect, useState } from "preact/hooks";
import type { Connection, Table } from "../api/types";
import { allTables } from "../connections/connections";
import { answersByModel, knowCapabilities } from "../shared/capability";
import { Icon } from "../shared/icon";
import { texts } from "../shared/texts";
import { starterTexts } from "./starter_texts";
import { inEnglish } from "./starter_words";
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
  const [tables, setTables] = useState<Table[] | null>(null);
  const own = connection.starters;
  useEffect(knowCapabilities, []);
  useEffect(() => {
    allTables(connection).then(setTables, () => setTables([]));
  }, [connection.id]);
  // The built-in writer reads English only.
  const say = answersByModel.value === false ? inEnglish : starterTexts;
  const questions = tables && withOwn(own, starters(tables, say));
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
