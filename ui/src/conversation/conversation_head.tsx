import { Database, FoldHorizontal, UnfoldHorizontal } from "lucide";
import { useState } from "preact/hooks";
import { connectionOf } from "../connections/connections";
import { Icon } from "../shared/icon";
import { lazy } from "../shared/lazy";
import { onLinkClick } from "../shared/route";
import { titleOf } from "../sessions/sessions";
import { ShareButton } from "../sharing/share_button";
import { texts } from "../shared/texts";
import type { Conversation } from "./conversation";
import { switchWide, wide } from "./wide";

const Outline = lazy(() => import("./outline"));

export function ConversationHead({ conversation }: { conversation: Conversation }) {
  const session = conversation.session.value;
  const title = session && titleOf(session);
  const connection = session ? connectionOf(session.db_connection_id) : undefined;
  return (
    <header class="conversation-head">
      <h1>{title ?? conversation.exchanges.value[0]?.question ?? texts.sessions.untitled}</h1>
      <Position conversation={conversation} />
      {connection && (
        <a class="connection-link" href={`/connections/${connection.id}`} onClick={onLinkClick}>
          <Icon of={Database} size={14} /> {connection.name}
        </a>
      )}
      {session && (session.turns > 0 || conversation.exchanges.value.length > 0) && (
        <ShareButton kind="session" thingId={session.id} connectionId={session.db_connection_id} />
      )}
      <WideSwitch />
    </header>
  );
}

/** Gives answers the whole width of the page, or the width of a column of text. */
function WideSwitch() {
  return (
    <button
      type="button"
      class="icon-button wide-switch"
      aria-label={texts.sessions.wide}
      title={texts.sessions.wide}
      aria-pressed={wide.value}
      onClick={switchWide}
    >
      <Icon of={wide.value ? FoldHorizontal : UnfoldHorizontal} />
    </button>
  );
}

/** The number of the exchange at the top, of all; opens the list of them. */
function Position({ conversation }: { conversation: Conversation }) {
  const [open, setOpen] = useState(false);
  const loaded = conversation.exchanges.value.length;
  const earlier = conversation.earlier.value === null ? 0 : (conversation.session.value?.turns ?? 0) - loaded;
  const total = loaded + Math.max(0, earlier);
  if (total < 2) return null;
  const place = Math.max(0, earlier) + Math.min(conversation.at.value + 1, loaded);
  return (
    <>
      <button
        type="button"
        class="button small position"
        aria-haspopup="dialog"
        title={texts.sessions.outline}
        onClick={() => setOpen(true)}
      >
        {texts.sessions.position(place, total)}
      </button>
      {open && <Outline conversation={conversation} onClose={() => setOpen(false)} />}
    </>
  );
}
