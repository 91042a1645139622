import { Ellipsis, GitFork, Link, Pencil, Play, Share2 } from "lucide";
import { useState } from "preact/hooks";
import { connectionOf } from "../connections/connections";
import { copy } from "../shared/copy";
import { lazy } from "../shared/lazy";
import { Menu } from "../shared/menu";
import { orSay } from "../shared/or_say";
import { texts } from "../shared/texts";
import type { Conversation } from "./conversation";
import { isUnderWay, type Exchange } from "./model";

const EditQuestion = lazy(() => import("./edit_question"));
const LinkDialog = lazy(() => import("../sharing/link_dialog"));

/** What else can be done with an exchange: its link, a fork, another question in its place. */
export function ExchangeMenu({ exchange, conversation }: { exchange: Exchange; conversation: Conversation }) {
  const [editing, setEditing] = useState(false);
  const [sharing, setSharing] = useState(false);
  const { messageId, phase, sql, versions } = exchange.answer;
  if (isUnderWay(exchange.answer) || messageId === null) return null;
  const { sessionId } = conversation;
  const { exchange: label, fork, edit, link, linked, rerun } = texts.sessions;
  const again = {
    icon: Play,
    label: rerun,
    onSelect: () => orSay(conversation.addVersion(exchange, versions.at(-1)?.sql ?? sql)),
  };
  const share = { icon: Share2, label: texts.share.answer, onSelect: () => setSharing(true) };
  const address = `${location.origin}/sessions/${sessionId}#${messageId}`;
  return (
    <div class="exchange-menu">
      <Menu
        icon={Ellipsis}
        label={label(exchange.question)}
        items={[
          ...(sql && !conversation.isClosed.value ? [again] : []),
          { icon: Pencil, label: edit, onSelect: () => setEditing(true) },
          {
            icon: GitFork,
            label: fork,
            onSelect: () => orSay(import("./fork").then(({ forkAfter }) => forkAfter(sessionId, messageId))),
          },
          { icon: Link, label: link, onSelect: () => orSay(copy(address, linked)) },
          // Below an answer that is complete there is a button.
          ...(phase === "complete" ? [] : [share]),
        ]}
      />
      {sharing && (
        <LinkDialog
          kind="answer"
          thingId={messageId}
          database={connectionOf(conversation.session.value?.db_connection_id ?? null)?.name}
          onClose={() => setSharing(false)}
        />
      )}
      {editing && (
        <EditQuestion exchange={exchange} conversation={conversation} onClose={() => setEditing(false)} />
      )}
    </div>
  );
}
