import { useState } from "preact/hooks";
import { Dialog } from "../shared/dialog";
import { orSay } from "../shared/or_say";
import { texts } from "../shared/texts";
import type { Conversation } from "./conversation";
import { askInstead } from "./fork";
import type { Exchange } from "./model";
import { useUnsent } from "../identity/unsent";

/** Asks another question in the place of one, in a new session. */
export default function EditQuestion({
  exchange,
  conversation,
  reading,
  onClose,
}: {
  exchange: Exchange;
  conversation: Conversation;
  /** How KAI understood the question, where that was not meant. */
  reading?: string;
  onClose: () => void;
}) {
  const [text, setText] = useUnsent(`question ${exchange.key}`, exchange.question);
  const [asking, setAsking] = useState(false);
  const session = conversation.session.value;
  const question = text.trim();
  const ask = () => {
    if (!question || asking || session === null) return;
    setAsking(true);
    orSay(askInstead(session, exchange, question).finally(() => setAsking(false)));
  };
  return (
    <Dialog title={reading ? texts.answer.notMeant : texts.sessions.edit} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        {reading && (
          <p class="quiet">
            {texts.answer.notMeantLead}
            {reading}
          </p>
        )}
        <label>
          {texts.composer.label}
          <textarea
            rows={3}
            maxLength={8_000}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
              event.preventDefault();
              ask();
            }}
          />
          <small>{texts.sessions.editLead}</small>
        </label>
        <button type="submit" class="button primary" disabled={!question || asking}>
          {texts.composer.send}
        </button>
      </form>
    </Dialog>
  );
}
