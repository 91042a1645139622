import { ArrowRight } from "lucide";
import { Icon } from "../shared/icon";
import { texts } from "../shared/texts";
import type { Conversation } from "./conversation";
import type { Exchange } from "./model";

/** Questions that could follow the newest answer, ready to send. */
export function Suggestions({ exchange, conversation }: { exchange: Exchange; conversation: Conversation }) {
  const { suggestions, phase } = exchange.answer;
  if (phase !== "complete" || suggestions.length === 0 || !conversation.goesOnFrom(exchange)) return null;
  return (
    <section class="suggestions" aria-label={texts.answer.suggestions}>
      {suggestions.map((question) => (
        <button type="button" key={question} onClick={() => conversation.ask(question)}>
          <Icon of={ArrowRight} size={14} /> {question}
        </button>
      ))}
    </section>
  );
}
