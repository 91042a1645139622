import { Lock } from "lucide";
import type { Problem } from "../api/types";
import { Icon } from "../shared/icon";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import type { Conversation } from "./conversation";
import type { Answer, Exchange } from "./model";
import { ExplainFailure } from "./proposals";

interface Shown {
  exchange: Exchange;
  conversation: Conversation;
}

const WRITES =
  /^\s*(insert|update|delete|drop|alter|create|truncate|merge|replace|grant|revoke|attach|copy)\b/i;
const OFFERED = /“([^”]+)”/g;

/** Whether KAI did what it should: it refused to change data. */
export function isRefusal(problem: Problem, { sql }: Answer): boolean {
  if (problem.type === "urn:kai:question-not-understood")
    return problem.detail.startsWith("KAI only reads data");
  return problem.type === "urn:kai:statement-failed" && WRITES.test(sql);
}

/** The questions that KAI offers in place of one that it declined: whatever its words quote. */
export function offered(problem: Problem): string[] {
  return isBeyond(problem)
    ? Array.from(problem.detail.matchAll(OFFERED), ([, question]) => question ?? "")
    : [];
}

/** Whether a question is none for the writer without a model: nothing has failed. */
function isBeyond({ type }: Problem): boolean {
  return type === "urn:kai:question-not-understood";
}

/** Whether another try may end otherwise. A model may write another statement; a person's own stays as it is. */
function canEndOtherwise(problem: Problem, exchange: Exchange): boolean {
  if (problem.type === "urn:kai:statement-failed") return exchange.sql === undefined;
  return problem.retryable !== false;
}

/** What went wrong, and what helps: only what can end otherwise is tried again. */
export function Problems({ exchange, conversation }: Shown) {
  const { answer } = exchange;
  const closed = conversation.isClosed.value;
  const again = () =>
    answer.runId ? conversation.ask(exchange.question, exchange.sql) : conversation.resend(exchange);
  const failed = answer.phase === "failed";
  return (
    <>
      {answer.problems.map((problem, index) => {
        if (isRefusal(problem, answer)) return <Refusal key={problem.detail} problem={problem} />;
        const isLast = failed && index === answer.problems.length - 1;
        const questions = failed && !closed ? offered(problem) : [];
        return (
          <ProblemBox
            key={problem.detail}
            problem={problem}
            tone={failed && !isBeyond(problem) ? "error" : "notice"}
            onRetry={isLast && !closed && canEndOtherwise(problem, exchange) ? again : undefined}
          >
            {questions.map((question) => (
              <button
                key={question}
                type="button"
                class="button small"
                onClick={() => conversation.ask(question)}
              >
                {question}
              </button>
            ))}
          </ProblemBox>
        );
      })}
      {failed && <ExplainFailure exchange={exchange} conversation={conversation} />}
      {answer.phase === "cancelled" && (
        <ProblemBox
          problem={{ title: texts.steps.cancelled, detail: texts.steps.cancelledLead }}
          tone="notice"
          onRetry={closed ? undefined : again}
        />
      )}
    </>
  );
}

function Refusal({ problem }: { problem: Problem }) {
  return (
    <div class="problem neutral">
      <Icon of={Lock} size={18} />
      <div>
        <strong>{texts.problems.onlyReads}</strong>
        <p>{problem.detail}</p>
      </div>
    </div>
  );
}
