import { texts } from "../shared/texts";
import type { Conversation } from "./conversation";

/** Choices for a second question while one is being answered: wait, replace it, or discard the second. */
export default function RefusedBox({ conversation }: { conversation: Conversation }) {
  const refused = conversation.refused.value;
  if (refused === null) return null;
  const drop = () => {
    conversation.refused.value = null;
  };
  return (
    <div class="problem notice" role="alert">
      <div>
        <strong>{texts.busy.detail}</strong>
        <p>“{refused.question}”</p>
        <div class="problem-actions">
          <button type="button" class="button small primary" onClick={() => conversation.insist("enqueue")}>
            {texts.busy.wait}
          </button>
          <button type="button" class="button small" onClick={() => conversation.insist("interrupt")}>
            {texts.busy.interrupt}
          </button>
          <button type="button" class="button small" onClick={drop}>
            {texts.busy.drop}
          </button>
        </div>
      </div>
    </div>
  );
}
