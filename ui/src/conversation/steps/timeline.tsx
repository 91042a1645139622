import { Check, CircleSlash, CircleX, LoaderCircle, WifiOff } from "lucide";
import { Icon } from "../../shared/icon";
import { texts } from "../../shared/texts";
import { count, duration } from "../../shared/time";
import { type Answer, isUnderWay, type TakenStep } from "../model";
import { SqlText } from "../../shared/sql_text";
import { Elapsed } from "../../shared/elapsed";
import "./timeline.css";

interface Shown {
  answer: Answer;
  link: "live" | "reconnecting";
  /** Whether the statement is the analyst's own. */
  given: boolean;
}

/** The answer's progress in one line; opened, it shows every step with its time and what failed in it. */
export function Timeline({ answer, link, given }: Shown) {
  if (answer.steps.length === 0 && !isUnderWay(answer)) return null;
  const last = answer.steps.at(-1);
  return (
    <details class="timeline">
      <summary title={texts.steps.details}>
        <Mark answer={answer} link={link} />
        <span class="timeline-line">{line(answer, link, given)}</span>
        {isUnderWay(answer) && last && <Elapsed since={last.startedAt} />}
      </summary>
      <ol>
        {answer.steps.map((step) => (
          <StepLine key={`${step.step} ${step.startedAt}`} step={step} />
        ))}
      </ol>
    </details>
  );
}

function StepLine({ step }: { step: TakenStep }) {
  return (
    <li>
      <div class="step-line">
        <span>
          {texts.steps.names[step.step] ?? step.step}
          {step.rows !== null && <span class="step-rows"> · {texts.rows.count(count(step.rows))}</span>}
        </span>
        <span class="step-time">
          {step.endedAt === null ? (
            <Elapsed since={step.startedAt} />
          ) : (
            duration(step.endedAt - step.startedAt)
          )}
        </span>
      </div>
      {step.error !== null && (
        <div class="repair">
          <p>
            <strong>{step.statement === null ? texts.steps.failedStep : texts.steps.failedStatement}.</strong>{" "}
            {step.error}
          </p>
          {step.statement !== null && <SqlText sql={step.statement} />}
        </div>
      )}
    </li>
  );
}

function Mark({ answer, link }: Omit<Shown, "given">) {
  if (isUnderWay(answer)) {
    return link === "live" ? (
      <span class="turning">
        <Icon of={LoaderCircle} />
      </span>
    ) : (
      <Icon of={WifiOff} />
    );
  }
  const waiting = { sending: Check, running: Check, awaiting_approval: Check };
  const marks = { ...waiting, complete: Check, failed: CircleX, cancelled: CircleSlash };
  return <Icon of={marks[answer.phase]} />;
}

function line(answer: Answer, link: "live" | "reconnecting", given: boolean): string {
  if (isUnderWay(answer)) {
    if (link === "reconnecting") return texts.steps.reconnecting;
    return answer.steps.at(-1)?.message ?? texts.steps.sending;
  }
  const { summary, repaired, tried } = texts.steps;
  const repairs = answer.steps.filter((each) => each.step === "repairing_sql").length;
  const parts = [summary(answer.steps.length, duration(answer.elapsedMs ?? 0))];
  if (repairs > 0) parts.push(answer.phase === "complete" ? repaired(repairs) : tried(repairs));
  if (given) parts.push(texts.answer.given);
  return parts.join(" · ");
}
