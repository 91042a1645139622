import { LoaderCircle } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../../api/problem";
import type { Problem } from "../../api/types";
import { Icon } from "../../shared/icon";
import { Analysis } from "../analysis/analysis";
import { ProblemBox } from "../../shared/problem_box";
import { texts } from "../../shared/texts";
import type { Conversation } from "../conversation";
import { type Exchange, type InvestigationStep, isUnderWay } from "../model";
import { CallView } from "./call_view";
import { isOfAnswer } from "./call_words";
import { investigates, knowCapabilities } from "../../shared/capability";
import { ProgressBar } from "./progress_bar";
import "./investigation.css";

interface Shown {
  exchange: Exchange;
  conversation: Conversation;
  /** Whether the answer is, or was, near the screen: stored steps are read only then. */
  seen: boolean;
}

/** The steps of an investigation: what the model wants to know, and its calls. */
export default function Investigation({ exchange, conversation, seen }: Shown) {
  const { investigation, thought, progress } = exchange.answer;
  const isEmpty = investigation?.length === 0 && !thought;
  useEffect(() => {
    if (!isEmpty) knowCapabilities();
  }, [isEmpty]);
  // Statements of answers wait for approval where KAI does not investigate, too.
  const waits = exchange.answer.phase === "awaiting_approval";
  const isApproval = waits || investigation?.some((step) => step.calls.some(isOfAnswer));
  if (isEmpty || !(investigates.value || isApproval)) return null;
  if (investigation === null)
    return seen ? <StoredSteps exchange={exchange} conversation={conversation} /> : null;
  const calls = investigation.reduce((sum, step) => sum + step.calls.length, 0);
  return (
    <details class="investigation" open>
      <summary>{texts.investigation.summary(investigation.length, calls)}</summary>
      <ol>
        {investigation.map((step) => (
          <StepView key={step.number} step={step} exchange={exchange} conversation={conversation} />
        ))}
        {thought && (
          <li class="thinking">
            <span class="turning">
              <Icon of={LoaderCircle} size={14} />
            </span>
            <Analysis text={thought} whole={false} as="thought" />
          </li>
        )}
      </ol>
      {progress && <ProgressBar {...progress} />}
    </details>
  );
}

/** Reads the steps of a stored answer. */
function StoredSteps({ exchange, conversation }: Omit<Shown, "seen">) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const load = () => {
    setProblem(null);
    conversation.readSteps(exchange).catch((error: unknown) => setProblem(asProblem(error)));
  };
  useEffect(load, []);
  if (problem === null) return <p class="quiet">{texts.loading} …</p>;
  return (
    <ProblemBox problem={{ ...problem, title: texts.investigation.gone }} tone="notice" onRetry={load} />
  );
}

function StepView({ step, exchange, conversation }: { step: InvestigationStep } & Omit<Shown, "seen">) {
  const { answer } = exchange;
  const isLast = answer.investigation?.at(-1) === step;
  const since = isLast && isUnderWay(answer) ? (answer.steps.at(-1)?.startedAt ?? null) : null;
  return (
    <li>
      <p class="step-text">
        <span>{texts.investigation.step(step.number)}</span> {step.text}
      </p>
      <ul>
        {step.calls.map((call, index) => (
          <CallView
            key={call.id}
            call={call}
            name={`r${step.number}.${index + 1}`}
            exchange={exchange}
            conversation={conversation}
            since={since}
          />
        ))}
      </ul>
    </li>
  );
}
