import { useRef } from "preact/hooks";
import { ProblemBox } from "../shared/problem_box";
import { useInSight } from "../shared/sight";
import { texts } from "../shared/texts";
import { Analysis } from "./analysis/analysis";
import { AnswerActions } from "./answer_actions";
import { AnswerCard } from "./answer_card";
import type { Conversation } from "./conversation";
import { Findings } from "./investigation/findings";
import { Investigation } from "./investigation/investigation";
import { type Exchange, isUnderWay } from "./model";
import { Timeline } from "./steps/timeline";
import { Options } from "./options";
import { Suggestions } from "./suggestions";
import "./exchange.css";

interface Shown {
  exchange: Exchange;
  conversation: Conversation;
}

/** A question and its answer: the analysis first, then chart, rows and SQL, then the actions. */
export function ExchangeView({ exchange, conversation }: Shown) {
  const root = useRef<HTMLElement>(null);
  const seen = useInSight(root);
  const { answer, question } = exchange;
  return (
    <article class="exchange" ref={root} aria-busy={isUnderWay(answer)}>
      <h2 class="question">{question}</h2>
      <Timeline answer={answer} link={conversation.link.value} given={exchange.sql !== undefined} />
      {answer.standalone_question && (
        <p class="understood">
          <span>{texts.answer.standalone}</span> {answer.standalone_question}
        </p>
      )}
      {answer.explanation && (
        <p class="understood">
          <span>{texts.answer.understood}</span> {answer.explanation}
        </p>
      )}
      <Investigation exchange={exchange} conversation={conversation} seen={seen} />
      {answer.clarification && <Clarification exchange={exchange} conversation={conversation} />}
      <Analysis
        text={answer.analysis}
        whole={answer.analysisWhole || !isUnderWay(answer)}
        claims={answer.claims}
      />
      <Findings answer={answer} />
      {seen && <AnswerCard exchange={exchange} conversation={conversation} />}
      <Problems exchange={exchange} conversation={conversation} />
      <Suggestions exchange={exchange} conversation={conversation} />
      <AnswerActions exchange={exchange} conversation={conversation} />
    </article>
  );
}

function Clarification({ exchange, conversation }: Shown) {
  return (
    <div class="clarification">
      <span>{texts.answer.clarify}</span>
      <Analysis text={exchange.answer.clarification ?? ""} whole={true} />
      <Options exchange={exchange} conversation={conversation} />
    </div>
  );
}

function Problems({ exchange, conversation }: Shown) {
  const { answer } = exchange;
  const again = () =>
    answer.runId ? conversation.ask(exchange.question, exchange.sql) : conversation.resend(exchange);
  const failed = answer.phase === "failed";
  return (
    <>
      {answer.problems.map((problem, index) => (
        <ProblemBox
          key={problem.detail}
          problem={problem}
          tone={failed ? "error" : "notice"}
          onRetry={failed && index === answer.problems.length - 1 ? again : undefined}
        />
      ))}
      {answer.phase === "cancelled" && (
        <ProblemBox
          problem={{ title: texts.steps.cancelled, detail: texts.steps.cancelledLead }}
          tone="notice"
          onRetry={again}
        />
      )}
    </>
  );
}
