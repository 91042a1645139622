import { texts } from "../shared/texts";
import type { Conversation } from "./conversation";
import type { Exchange } from "./model";

/** The readings that KAI's newest question back offers, as buttons; users may also type their numbers. */
export function Options({ exchange, conversation }: { exchange: Exchange; conversation: Conversation }) {
  const { options, phase } = exchange.answer;
  if (phase !== "complete" || options.length === 0 || !conversation.goesOnFrom(exchange)) return null;
  return (
    <ol class="options" aria-label={texts.answer.options}>
      {options.map(({ label, question }) => (
        <li key={question}>
          <button type="button" class="button" onClick={() => conversation.ask(question)}>
            {label}
          </button>
          {question !== label && <span class="quiet">{question}</span>}
        </li>
      ))}
    </ol>
  );
}
