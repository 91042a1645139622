import { ArrowRight } from "lucide";
import { useEffect, useState } from "preact/hooks";
import type { Connection } from "../api/types";
import { allTables } from "../connections/connections";
import { answersByModel, knowCapabilities } from "../shared/capability";
import { Icon } from "../shared/icon";
import { starterListTexts } from "./starter_list_texts";
import "./starter_list.css";

type Suggest = (own: readonly string[], byModel: boolean | null) => readonly string[];

/** Questions to begin with; none if the schema suggests none or cannot be read. */
export default function StarterList({
  connection,
  onAsk,
}: {
  connection: Connection;
  onAsk: (question: string) => void;
}) {
  const [suggest, setSuggest] = useState<Suggest | null>(null);
  useEffect(knowCapabilities, []);
  useEffect(() => {
    Promise.all([allTables(connection), import("./starters")]).then(
      ([tables, { suggested }]) =>
        setSuggest((): Suggest => (own, byModel) => suggested(tables, own, byModel)),
      () => setSuggest((): Suggest => (own) => own),
    );
  }, [connection.id]);
  const questions = suggest?.(connection.starters, answersByModel.value);
  if (!questions) return <p class="quiet starters-reading">{starterListTexts.reading}</p>;
  if (questions.length === 0) return null;
  return (
    <section class="starters" aria-label={starterListTexts.examples}>
      <h2>{starterListTexts.examples}</h2>
      {questions.map((question) => (
        <button type="button" key={question} onClick={() => onAsk(question)}>
          {question}
          <Icon of={ArrowRight} size={15} />
        </button>
      ))}
    </section>
  );
}
