import { Workflow } from "lucide";
import { Icon } from "../shared/icon";
import { texts } from "../shared/texts";
import type { Conversation } from "../conversation/conversation";
import { type Exchange, isUnderWay } from "../conversation/model";
import { showProvenance } from "./shown";

/** Shows how an answer, or a version of it, was made, at a column of its rows if one is named. */
export function explain(
  exchange: Exchange,
  conversation: Conversation,
  column: string | null,
  version: number | undefined,
): void {
  const connectionId = conversation.session.value?.db_connection_id ?? null;
  showProvenance({ exchange, sessionId: conversation.sessionId, connectionId, column, version });
}

/** Opens how an answer was made. Answers without a statement have no such thing. */
export function MadeButton({ exchange, conversation }: { exchange: Exchange; conversation: Conversation }) {
  const { answer } = exchange;
  if (isUnderWay(answer) || !answer.sql || !answer.messageId) return null;
  const open = () => explain(exchange, conversation, null, undefined);
  return (
    <button type="button" class="made-button" aria-haspopup="dialog" onClick={open}>
      <Icon of={Workflow} size={14} /> {texts.provenance.title}
    </button>
  );
}
