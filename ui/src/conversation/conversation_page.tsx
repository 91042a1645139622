import { useEffect, useMemo, useRef } from "preact/hooks";
import { connectionOf, connections, refreshConnections } from "../connections/connections";
import { orSay } from "../shared/or_say";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { Announcer } from "./announcer";
import { Composer } from "./composer";
import { Conversation } from "./conversation";
import { ConversationHead } from "./conversation_head";
import { ExchangeView } from "./exchange_view";
import { ModeTag } from "./mode_tag";
import { takeQuestion } from "./opening";
import { RefusedBox } from "./refused_box";
import { StarterList } from "./starter_list";
import "./conversation_page.css";

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
    return <ProblemBox problem={problem.value} onRetry={() => void conversation.load()} />;
  }
  return (
    <div class="conversation">
      <ConversationHead conversation={conversation} />
      <Exchanges conversation={conversation} />
      <Beginning conversation={conversation} />
      <Foot conversation={conversation} />
      <Announcer conversation={conversation} />
    </div>
  );
}

function useConversation(sessionId: string): Conversation {
  const conversation = useMemo(() => new Conversation(sessionId), [sessionId]);
  useEffect(() => {
    const question = takeQuestion(sessionId);
    void conversation.load().then(() => question && conversation.ask(question));
    return () => conversation.close();
  }, [conversation]);
  return conversation;
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
    list.current?.lastElementChild?.scrollIntoView({ block: "start" });
  }, [last]);
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
  const asked = conversation.exchanges.value.map((each) => each.question);
  const connection = session ? connectionOf(session.db_connection_id) : undefined;
  const closed = session?.status === "closed";
  const { closed: closedText, followUp, placeholder } = texts.composer;
  return (
    <div class="conversation-foot">
      <RefusedBox conversation={conversation} />
      <Trouble conversation={conversation} closed={closed} />
      <Composer
        placeholder={closed ? closedText : asked.length ? followUp : placeholder}
        asked={asked}
        running={conversation.running.value !== null}
        disabled={closed}
        onAsk={(question) => conversation.ask(question)}
        onStop={() => orSay(conversation.stop())}
      >
        {connection && <span class="connection-name">{connection.name}</span>}
        {session && <ModeTag mode={session.mode} />}
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
