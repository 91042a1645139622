import { ChevronRight, CircleSlash, CircleX, type IconNode, WifiOff } from "lucide";
import { useState } from "preact/hooks";
import { Elapsed } from "../../shared/elapsed";
import { Icon } from "../../shared/icon";
import { lazy } from "../../shared/lazy";
import { texts } from "../../shared/texts";
import { duration } from "../../shared/time";
import type { Answer, Phase } from "../model";
import "./timeline.css";

const MARKS: Partial<Record<Phase, IconNode>> = { failed: CircleX, cancelled: CircleSlash };
const StepList = lazy(() => import("./step_list"));

interface Shown {
  answer: Answer;
  /** Null for a reader of a link. */
  sessionId: string | null;
}

/** The progress of an answer that is under way, in one line; opened, it shows its steps so far. */
export function Progress({ answer, sessionId, link }: Shown & { link: "live" | "reconnecting" }) {
  const [opened, setOpened] = useState(false);
  const last = answer.steps.at(-1);
  const message = last?.message ?? texts.steps.sending;
  return (
    <details class="timeline" onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary title={texts.steps.details}>
        {link === "live" ? <span class="pulse" /> : <Icon of={WifiOff} />}
        <span class="timeline-line">{link === "live" ? message : texts.steps.reconnecting}</span>
        {last && <Elapsed since={last.startedAt} />}
      </summary>
      {opened && <StepList answer={answer} sessionId={sessionId} />}
    </details>
  );
}

/** The steps of an answer that is over, folded. */
export function Steps({ answer, sessionId, given }: Shown & { /** By the analyst. */ given: boolean }) {
  const [opened, setOpened] = useState(false);
  if (answer.steps.length === 0) return null;
  return (
    <details class="fold timeline" onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary title={texts.steps.details}>
        <Icon of={MARKS[answer.phase] ?? ChevronRight} />
        <b class="timeline-line">{summaryOf(answer, given)}</b>
      </summary>
      {opened && <StepList answer={answer} sessionId={sessionId} />}
    </details>
  );
}

function summaryOf(answer: Answer, given: boolean): string {
  const { summary, repaired, tried } = texts.steps;
  const repairs = answer.steps.filter((each) => each.step === "repairing_sql").length;
  const parts = [summary(answer.steps.length, duration(answer.elapsedMs ?? 0))];
  if (repairs > 0) parts.push(answer.phase === "complete" ? repaired(repairs) : tried(repairs));
  if (given && answer.explanation === "") parts.push(texts.answer.given);
  return parts.join(" · ");
}
