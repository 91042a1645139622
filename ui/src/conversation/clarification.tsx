import { texts } from "../shared/texts";
import { Analysis } from "./analysis/analysis";
import type { Conversation } from "./conversation";
import type { Exchange } from "./model";

interface Shown {
  exchange: Exchange;
  conversation: Conversation;
}

/** What KAI asks back, instead of an answer. */
export default function Clarification({ exchange, conversation }: Shown) {
  return (
    <div class="clarification">
      <span>{texts.answer.clarify}</span>
      <Analysis text={exchange.answer.clarification ?? ""} />
      <Options exchange={exchange} conversation={conversation} />
    </div>
  );
}

/** The readings that KAI's newest question back offers, as buttons; users may also type their numbers. */
function Options({ exchange, conversation }: Shown) {
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
