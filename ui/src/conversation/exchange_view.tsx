import { useEffect, useRef, useState } from "preact/hooks";
import { orSay } from "../shared/or_say";
import { lazy } from "../shared/lazy";
import { investigates } from "../shared/capability";
import { inUse } from "../shared/in_use";
import { useInSight } from "../shared/sight";
import { texts } from "../shared/texts";
import { Headline, Reading } from "./analysis/answer_text";
import { Comments } from "../comments/lazy_comments";
import { AnswerCard } from "./answer_card";
import { Folds, SqlFold } from "./folds";
import { HeadlineBones, Waiting } from "./waiting";
import type { Conversation } from "./conversation";
import { ExchangeMenu } from "./exchange_menu";
import { Findings, originIn } from "./investigation/findings";
import { MadeButton } from "../provenance/made_button";
import { tabWanted } from "../provenance/shown";
import { type Answer, type Exchange, isAwaited, isUnderWay } from "./model";
import { Progress } from "./steps/timeline";
import { bringToTop } from "./place";
import { Printed, printing } from "./printed";
import { Problems } from "./problems";
import { Suggestions } from "./suggestions";
import "./exchange.css";

/** Fetched while a question is answered: its actions stand below an answer that is over. */
const AnswerActions = lazy(() => import("./answer_actions"));
const Clarification = lazy(() => import("./clarification"));
const Investigation = lazy(() => import("./investigation/investigation"));
const VerifiedBadge = lazy(
  () => import("../provenance/verified_badge"),
  () => <span class="origin verified">{texts.answer.verified}</span>,
);
const VerifiedMark = lazy(() => import("../provenance/verified_mark"));
const Terms = lazy(() => import("../knowledge/terms"));
const KeptFromTurn = lazy(() => import("../memory/kept"));
const Remembered = lazy(() => import("../memory/remembered"));
const Pointers = lazy(() => import("./investigation/pointers"));

interface Shown {
  exchange: Exchange;
  conversation: Conversation;
}

/** A question and its answer: the headline, then chart, rows and SQL, the statements, and the actions. */
export function ExchangeView({ exchange, conversation }: Shown) {
  const root = useRef<HTMLElement>(null);
  const seen = useInSight(root) || printing.value;
  const { answer, question } = exchange;
  const connectionId = conversation.session.value?.db_connection_id;
  const sought = conversation.sought.value === exchange.key;
  const awaited = isAwaited(answer);
  const isRead = awaited || answer.head !== null || answer.analysis !== "";
  const isLive = useWasUnderWay(answer) && isRead;
  const investigated = answer.investigation?.length !== 0 || answer.thought !== "";
  const isAgents = conversation.session.value?.mode === "agent";
  const { version, pick } = useVersion(answer);
  const origin = originIn(answer, () => (tabWanted.value = { exchange: exchange.key, tab: "table" }));
  useEffect(() => {
    if (!sought || root.current === null) return;
    bringToTop(root.current);
    root.current.focus({ preventScroll: true });
  }, [sought]);
  return (
    <article
      class={["exchange", sought && "sought", isLive && "live"].filter(Boolean).join(" ")}
      ref={root}
      data-message={answer.messageId ?? undefined}
      tabIndex={sought ? -1 : undefined}
      aria-busy={isUnderWay(answer)}
    >
      <header class="answer-head">
        <div class="exchange-head">
          <h2 class={answer.headline || awaited ? "question" : "question large"}>{question}</h2>
          <ExchangeMenu exchange={exchange} conversation={conversation} />
        </div>
        {awaited && <HeadlineBones />}
        <Headline answer={answer} origin={origin} />
        <div class="basis">
          {isUnderWay(answer) ? (
            <Progress answer={answer} link={conversation.link.value} sessionId={conversation.sessionId} />
          ) : (
            <Basis exchange={exchange} conversation={conversation} seen={seen} />
          )}
        </div>
      </header>
      {/* Above whatever comes at the end: a call does not move under the pointer that presses it. Its code is
          fetched before there are steps, so that they don't come after the answer. */}
      {(investigated || (isAgents && awaited)) && (
        <Investigation exchange={exchange} conversation={conversation} seen={seen} />
      )}
      {answer.clarification && <Clarification exchange={exchange} conversation={conversation} />}
      {awaited && !investigated && !isAgents && (
        <Waiting
          sql={answer.sql && <SqlFold exchange={exchange} conversation={conversation} version={version} />}
        />
      )}
      {seen && !awaited && (
        <AnswerCard exchange={exchange} conversation={conversation} version={version} pick={pick} />
      )}
      {!awaited && <Reading answer={answer} origin={origin} />}
      <Findings answer={answer} origin={origin} />
      {hasPointers(answer) && <Pointers exchange={exchange} conversation={conversation} />}
      <Printed answer={answer} />
      <Withdraw exchange={exchange} conversation={conversation} />
      <Problems exchange={exchange} conversation={conversation} />
      {!isUnderWay(answer) && <Folds exchange={exchange} conversation={conversation} version={version} />}
      {seen && !isUnderWay(answer) && <Remembered answer={answer} />}
      <KeptFromTurn exchange={exchange} />
      <Suggestions exchange={exchange} conversation={conversation} />
      <AnswerActions exchange={exchange} conversation={conversation} />
      {seen && answer.messageId && !isUnderWay(answer) && (
        <Comments thing={{ kind: "answer", thingId: answer.messageId }} sessionId={conversation.sessionId} />
      )}
      {seen && inUse.value && connectionId && <Terms connectionId={connectionId} exchange={root} />}
    </article>
  );
}

/** What the answer stands on: where its statement comes from, the reading of the question, how it was made. */
function Basis({ exchange, conversation, seen }: Shown & { seen: boolean }) {
  const { answer, sql } = exchange;
  const connectionId = conversation.session.value?.db_connection_id;
  const ofExample = isOfExample(exchange);
  return (
    <>
      {sql !== undefined && <span class="origin">{texts.answer.ownSql}</span>}
      {ofExample && <VerifiedBadge sessionId={conversation.sessionId} messageId={answer.messageId} />}
      {seen && connectionId && answer.messageId && answer.sql && !ofExample && (
        <VerifiedMark connectionId={connectionId} sql={answer.sql} />
      )}
      <MadeButton exchange={exchange} conversation={conversation} />
      {answer.explanation && (
        <span class="reading-of" title={answer.explanation}>
          {answer.explanation}
        </span>
      )}
    </>
  );
}

/** Whether a verified example is the answer itself: only then it is used without a table. */
function isOfExample({ sql, answer: { context } }: Exchange): boolean {
  return sql === undefined && context?.examples.length === 1 && context.tables.length === 0;
}

/** The version of the answer that is shown: the picked one, or the latest; undefined for its own statement. */
function useVersion({ versions }: Answer) {
  const [picked, pick] = useState<number | null>(null);
  useEffect(() => pick(null), [versions.length]);
  const version = picked === null ? versions.at(-1) : versions.find((each) => each.number === picked);
  return { version, pick };
}

function hasPointers({ code, link, action }: Answer): boolean {
  return investigates.value && code.length + link.length + action.length > 0;
}

/** Whether the answer was under way when it was first shown: it keeps the room that was reserved for it. */
function useWasUnderWay(answer: Answer): boolean {
  const was = useRef(false);
  was.current ||= isUnderWay(answer);
  return was.current;
}

/** A question that waits behind another can be taken back; Stop ends the one that is being answered. */
function Withdraw({ exchange, conversation }: Shown) {
  const { answer } = exchange;
  const first = conversation.running.value;
  if (!isUnderWay(answer) || answer.runId === null || first === null || first.key === exchange.key)
    return null;
  return (
    <p>
      <button
        type="button"
        class="button small"
        onClick={() => orSay(conversation.withdrawQuestion(exchange))}
      >
        {texts.answer.withdraw}
      </button>
    </p>
  );
}
