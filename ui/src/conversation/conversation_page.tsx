import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { connectionOf, connections, refreshConnections } from "../connections/connections";
import { changedHere } from "../sessions/sessions";
import { orSay } from "../shared/or_say";
import { ProblemBox } from "../shared/problem_box";
import { Unread } from "../shared/unread";
import { fragment, name } from "../shared/route";
import { texts } from "../shared/texts";
import { say } from "../shared/toasts";
import { lazy } from "../shared/lazy";
import { shownProvenance } from "../provenance/shown";
import { Announcer } from "./announcer";
import { Composer } from "./composer";
import { Conversation } from "./conversation";
import { ConversationHead } from "./conversation_head";
import { ExchangeView } from "./exchange_view";
import { draftOf } from "./draft";
import { bringToTop, keepPlace, keptPlace, type Place, returnTo } from "./place";
import { ModeLead, ModeSwitch } from "./mode_switch";
import { ModeTag } from "./mode_tag";
import { takeOpening } from "./opening";
import { wide } from "./wide";
import { WriterSign } from "./writer_sign";
import "./conversation_page.css";

const StarterList = lazy(() => import("./starter_list"));
const RefusedBox = lazy(() => import("./refused_box"));
const ProvenancePanel = lazy(() => import("../provenance/provenance_panel"));

/** A session: its exchanges, and the field for the next question. */
export default function ConversationPage({ sessionId }: { sessionId: string }) {
  const conversation = useConversation(sessionId);
  const { problem, session, exchanges } = conversation;
  const title = session.value?.title;
  useEffect(() => {
    document.title = title ? `${title} · ${texts.product}` : texts.product;
  }, [title]);
  useEffect(() => {
    if (connections.value === null) void refreshConnections();
  }, []);
  if (problem.value && exchanges.value.length === 0) {
    return (
      <div id="main" tabIndex={-1}>
        <Unread problem={problem.value} onRetry={() => void conversation.load()} />
      </div>
    );
  }
  return (
    <div class={wide.value ? "conversation wide" : "conversation"}>
      <ConversationHead conversation={conversation} />
      <div class="conversation-scroll" id="main" tabIndex={-1}>
        <Exchanges conversation={conversation} />
        <Beginning conversation={conversation} />
      </div>
      <Foot conversation={conversation} />
      <Announcer conversation={conversation} />
      {shownProvenance.value && <ProvenancePanel />}
    </div>
  );
}

function useConversation(sessionId: string): Conversation {
  const conversation = useMemo(() => new Conversation(sessionId), [sessionId]);
  const [loaded, setLoaded] = useState(false);
  useEffect(() => {
    const opening = takeOpening(sessionId);
    void conversation
      .load()
      .then(() => opening && conversation.ask(opening.question, opening.sql, opening.about))
      .then(() => setLoaded(true));
    return () => conversation.close();
  }, [conversation]);
  const { id, state, arrival } = fragment.value;
  useEffect(() => {
    if (!loaded) return;
    const { entry, session } = keptPlace(sessionId, state);
    const place = entry ?? (id || conversation.running.value ? null : session);
    if (place === null) orSay(seekMessage(conversation, id));
    else if (place !== "latest") orSay(comeBack(conversation, place));
    else conversation.sought.value = null;
  }, [loaded, arrival]);
  const changed = changedHere.value;
  useEffect(() => {
    if (changed?.id === sessionId) void conversation.load();
  }, [changed]);
  useKeys(conversation);
  return conversation;
}

/** j and k go to the next and the previous exchange, outside of fields and menus. */
function useKeys(conversation: Conversation): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const by = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
      if (by === 0 || event.metaKey || event.ctrlKey || event.altKey) return;
      const target = event.target as HTMLElement;
      if (target.closest("input, textarea, select, dialog, [contenteditable], [role=menu], [role=grid]"))
        return;
      const { exchanges, sought, at } = conversation;
      const goal = exchanges.value[at.value + by];
      if (!goal) return;
      event.preventDefault();
      at.value += by;
      sought.value = goal.key;
      if (goal.answer.messageId) name(goal.answer.messageId);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [conversation]);
}

async function comeBack(conversation: Conversation, { message, top }: Place): Promise<void> {
  conversation.sought.value = null;
  if (!(await conversation.find(message))) return;
  requestAnimationFrame(() => returnTo({ message, top }));
}

/** Shows the message that the address names, as a fact's source does. */
async function seekMessage(conversation: Conversation, messageId: string): Promise<void> {
  if (messageId && !(await conversation.seek(messageId))) say(texts.memory.messageGone);
}

/** Suggested questions of an empty session. */
function Beginning({ conversation }: { conversation: Conversation }) {
  const session = conversation.session.value;
  const connection = session ? connectionOf(session.db_connection_id) : undefined;
  if (!connection || conversation.exchanges.value.length > 0 || session?.status === "closed") return null;
  return (
    <div class="beginning">
      <StarterList connection={connection} onAsk={(question) => conversation.ask(question)} />
    </div>
  );
}

function Exchanges({ conversation }: { conversation: Conversation }) {
  const list = useRef<HTMLDivElement>(null);
  const exchanges = conversation.exchanges.value;
  const last = exchanges.at(-1)?.key;
  useEffect(() => {
    const newest = list.current?.lastElementChild;
    if (newest && conversation.sought.value === null) bringToTop(newest);
  }, [last]);
  useEffect(
    () => (list.current ? keepPlace(conversation.sessionId, list.current, conversation.at) : undefined),
    [conversation],
  );
  return (
    <div class="exchanges" ref={list}>
      {conversation.earlier.value && (
        <button type="button" class="button small" onClick={() => orSay(conversation.loadEarlier())}>
          {texts.answer.earlier}
        </button>
      )}
      {exchanges.map((each) => (
        <ExchangeView key={each.key} exchange={each} conversation={conversation} />
      ))}
    </div>
  );
}

function Foot({ conversation }: { conversation: Conversation }) {
  const session = conversation.session.value;
  const exchanges = conversation.exchanges.value;
  const asked = exchanges.map((each) => each.question);
  const isAskedBack = Boolean(exchanges.at(-1)?.answer.clarification);
  const connection = session ? connectionOf(session.db_connection_id) : undefined;
  const closed = session?.status === "closed";
  const proposed = draftOf(conversation.sessionId);
  const { closed: closedText, followUp, placeholder, reply } = texts.composer;
  const next = isAskedBack ? reply : asked.length ? followUp : placeholder;
  return (
    <div class="conversation-foot">
      {conversation.refused.value && <RefusedBox conversation={conversation} />}
      <Trouble conversation={conversation} closed={closed} />
      {!proposed && <ModeLead conversation={conversation} />}
      <Composer
        key={conversation.sessionId}
        place={conversation.sessionId}
        placeholder={closed ? closedText : next}
        asked={asked}
        running={conversation.running.value !== null}
        disabled={closed}
        proposed={proposed}
        onAsk={(question, about) => conversation.ask(question, undefined, about)}
        onStop={() => orSay(conversation.stop())}
      >
        {connection && <span class="connection-name">{connection.name}</span>}
        {!closed && (proposed ? <ModeTag mode="ask" /> : <ModeSwitch conversation={conversation} />)}
        {!closed && <WriterSign />}
      </Composer>
    </div>
  );
}

/** Why the session takes no question: it is closed or deleted, or the server is unavailable. */
function Trouble({ conversation, closed }: { conversation: Conversation; closed: boolean }) {
  const problem = conversation.problem.value;
  if (problem) return <ProblemBox problem={problem} onRetry={() => void conversation.load()} />;
  if (!closed) return null;
  return (
    <button type="button" class="button small" onClick={() => orSay(conversation.resume())}>
      {texts.composer.resume}
    </button>
  );
}
