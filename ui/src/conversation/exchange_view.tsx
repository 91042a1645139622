import { useEffect, useRef, useState } from "preact/hooks";
import { orSay } from "../shared/or_say";
import { lazy } from "../shared/lazy";
import { investigates } from "../shared/capability";
import { inUse } from "../shared/in_use";
import { useInSight } from "../shared/sight";
import { texts } from "../shared/texts";
import { Analysis } from "./analysis/analysis";
import { Headline, Reading } from "./analysis/answer_text";
import { AnswerActions } from "./answer_actions";
import { AnswerCard } from "./answer_card";
import type { Conversation } from "./conversation";
import { ExchangeMenu } from "./exchange_menu";
import { Findings, originIn } from "./investigation/findings";
import { MadeButton } from "../provenance/made_button";
import { tabWanted } from "../provenance/shown";
import { KeptFromTurn } from "../memory/kept";
import { Remembered } from "../memory/remembered";
import { type Answer, type Exchange, isUnderWay } from "./model";
import { Timeline } from "./steps/timeline";
import { Options } from "./options";
import { bringToTop } from "./place";
import { Printed, printing } from "./printed";
import { Problems } from "./problems";
import { Suggestions } from "./suggestions";
import "./exchange.css";

const Investigation = lazy(() => import("./investigation/investigation"));
const VerifiedBadge = lazy(
  () => import("../provenance/verified_badge"),
  () => <span class="origin verified">{texts.answer.verified}</span>,
);
const VerifiedMark = lazy(() => import("../provenance/verified_mark"));
const EditQuestion = lazy(() => import("./edit_question"));
const Terms = lazy(() => import("../knowledge/terms"));
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
  const isLive = useWasUnderWay(answer) && (answer.sql !== "" || answer.head !== null);
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
      <div class="exchange-head">
        <h2 class="question">{question}</h2>
        <ExchangeMenu exchange={exchange} conversation={conversation} />
      </div>
      <div class="answer-meta">
        <Timeline
          answer={answer}
          sessionId={conversation.sessionId}
          link={conversation.link.value}
          given={exchange.sql !== undefined}
        />
        <MadeButton exchange={exchange} conversation={conversation} />
        {seen && connectionId && answer.messageId && answer.sql && !isOfExample(exchange) && (
          <VerifiedMark connectionId={connectionId} sql={answer.sql} />
        )}
      </div>
      {answer.standalone_question && (
        <p class="understood">
          <span>{texts.answer.standalone}</span> {answer.standalone_question}
        </p>
      )}
      {/* Above whatever comes at the end: a call does not move under the pointer that presses it. */}
      {(answer.investigation?.length !== 0 || answer.thought !== "") && (
        <Investigation exchange={exchange} conversation={conversation} seen={seen} />
      )}
      {(answer.explanation || isLive) && (
        <p class="understood explained">
          {answer.explanation && <Origin exchange={exchange} conversation={conversation} />}{" "}
          {answer.explanation}
          {answer.explanation && <NotMeant exchange={exchange} conversation={conversation} />}
        </p>
      )}
      {seen && <Remembered answer={answer} />}
      {answer.clarification && <Clarification exchange={exchange} conversation={conversation} />}
      <Headline answer={answer} origin={origin} isLive={isLive} />
      {seen && <AnswerCard exchange={exchange} conversation={conversation} />}
      <Reading answer={answer} origin={origin} />
      <Findings answer={answer} origin={origin} />
      {hasPointers(answer) && <Pointers exchange={exchange} conversation={conversation} />}
      <Printed answer={answer} />
      <KeptFromTurn exchange={exchange} />
      <Withdraw exchange={exchange} conversation={conversation} />
      <Problems exchange={exchange} conversation={conversation} />
      <Suggestions exchange={exchange} conversation={conversation} />
      <AnswerActions exchange={exchange} conversation={conversation} />
      {seen && inUse.value && connectionId && <Terms connectionId={connectionId} exchange={root} />}
    </article>
  );
}

/** Where the statement comes from: the analyst, a verified example, or KAI's reading of the question. */
function Origin({ exchange, conversation }: Shown) {
  if (exchange.sql !== undefined) return <span class="origin">{texts.answer.ownSql}</span>;
  if (isOfExample(exchange))
    return <VerifiedBadge sessionId={conversation.sessionId} messageId={exchange.answer.messageId} />;
  return <span>{texts.answer.understood}</span>;
}

/** Whether a verified example is the answer itself: only then it is used without a table. */
function isOfExample({ sql, answer: { context } }: Exchange): boolean {
  return sql === undefined && context?.examples.length === 1 && context.tables.length === 0;
}

/** Asks the question again where KAI read it in another way than its reader. */
function NotMeant({ exchange, conversation }: Shown) {
  const [asking, ask] = useState(false);
  const { answer, sql } = exchange;
  if (sql !== undefined) return null;
  return (
    <>
      {" "}
      {/* Its room is kept while the answer arrives. */}
      <button
        type="button"
        class="not-meant"
        disabled={isUnderWay(answer) || answer.messageId === null}
        onClick={() => ask(true)}
      >
        {texts.answer.notMeant}
      </button>
      {asking && (
        <EditQuestion
          exchange={exchange}
          conversation={conversation}
          reading={answer.explanation}
          onClose={() => ask(false)}
        />
      )}
    </>
  );
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

function Clarification({ exchange, conversation }: Shown) {
  return (
    <div class="clarification">
      <span>{texts.answer.clarify}</span>
      <Analysis text={exchange.answer.clarification ?? ""} />
      <Options exchange={exchange} conversation={conversation} />
    </div>
  );
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
