import { Check, CircleSlash, CircleX, LoaderCircle, WifiOff } from "lucide";
import { useState } from "preact/hooks";
import { Elapsed } from "../../shared/elapsed";
import { Icon } from "../../shared/icon";
import { lazy } from "../../shared/lazy";
import { texts } from "../../shared/texts";
import { duration } from "../../shared/time";
import { type Answer, isUnderWay } from "../model";
import "./timeline.css";

const StepList = lazy(() => import("./step_list"));

interface Shown {
  answer: Answer;
  /** Null for a reader of a link. */
  sessionId: string | null;
  link: "live" | "reconnecting";
  /** Whether the statement is the analyst's own. */
  given: boolean;
}

/** The answer's progress in one line; opened, it shows its steps. */
export function Timeline({ answer, sessionId, link, given }: Shown) {
  const [opened, setOpened] = useState(false);
  if (answer.steps.length === 0 && !isUnderWay(answer)) return null;
  const last = answer.steps.at(-1);
  return (
    <details class="timeline" onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary title={texts.steps.details}>
        <Mark answer={answer} link={link} />
        <span class="timeline-line">{line(answer, link, given)}</span>
        {isUnderWay(answer) && last && <Elapsed since={last.startedAt} />}
      </summary>
      {opened && <StepList answer={answer} sessionId={sessionId} />}
    </details>
  );
}

function Mark({ answer, link }: Pick<Shown, "answer" | "link">) {
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
  if (given && answer.explanation === "") parts.push(texts.answer.given);
  return parts.join(" · ");
}
