import { texts } from "../shared/texts";
import type { Conversation } from "./conversation";
import type { Answer } from "./model";

/** Announces the newest answer's progress to screen readers: one text a step, never its tokens. */
export function Announcer({ conversation }: { conversation: Conversation }) {
  const latest = conversation.exchanges.value.at(-1);
  return (
    <div class="visually-hidden" role="status">
      {latest && !latest.kept && isKnown(latest.answer) && spoken(latest.answer)}
    </div>
  );
}

/** Whether there is something to announce: its run may not have begun. */
function isKnown(answer: Answer): boolean {
  return answer.phase === "sending" || answer.steps.length > 0;
}

function spoken(answer: Answer): string {
  switch (answer.phase) {
    case "sending":
      return texts.steps.sending;
    case "running":
      return answer.steps.at(-1)?.message ?? texts.steps.sending;
    case "complete":
      return texts.steps.done;
    case "failed":
      return texts.steps.failed;
    case "awaiting_approval":
      return texts.steps.awaitingApproval;
    case "cancelled":
      return texts.steps.cancelled;
  }
}
