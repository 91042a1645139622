import { Database } from "lucide";
import { connectionOf } from "../connections/connections";
import { Icon } from "../shared/icon";
import { onLinkClick } from "../shared/route";
import { titleOf } from "../sessions/sessions";
import { texts } from "../shared/texts";
import type { Conversation } from "./conversation";

export function ConversationHead({ conversation }: { conversation: Conversation }) {
  const session = conversation.session.value;
  const title = session && titleOf(session);
  const connection = session ? connectionOf(session.db_connection_id) : undefined;
  return (
    <header class="conversation-head">
      <h1>{title ?? conversation.exchanges.value[0]?.question ?? texts.sessions.untitled}</h1>
      {connection && (
        <a class="connection-link" href={`/connections/${connection.id}`} onClick={onLinkClick}>
          <Icon of={Database} size={14} /> {connection.name}
        </a>
      )}
    </header>
  );
}
