import { ChevronRight } from "lucide";
import { Elapsed } from "../../shared/elapsed";
import { Icon } from "../../shared/icon";
import { SqlText } from "../../shared/sql_text";
import { texts } from "../../shared/texts";
import { count, duration } from "../../shared/time";
import type { Answer, TakenStep } from "../model";
import { stepTexts } from "./texts";
import "./step_list.css";

/** Something that a step used: how many, and their names if the answer has them. */
interface Used {
  said: string;
  names: string[];
}

const NO_CONTEXT = { tables: [], terms: [], instructions: [], examples: [] };

/** The steps of an answer, with their times and what failed. One that used something opens to it. */
export default function StepList({ answer }: { answer: Answer }) {
  return (
    <ol class="steps">
      {answer.steps.map((step) => (
        <StepLine key={`${step.step} ${step.startedAt}`} step={step} used={usedIn(step, answer)} />
      ))}
    </ol>
  );
}

function StepLine({ step, used }: { step: TakenStep; used: Used[] }) {
  return (
    <li>
      {used.length === 0 ? (
        <div class="step-line">
          <Name step={step} />
        </div>
      ) : (
        <details>
          <summary class="step-line">
            <Name step={step} opens={true} />
          </summary>
          <ul class="step-used">
            {used.map(({ said, names }) => (
              <li key={said}>
                {said}
                {names.length > 0 && ": "}
                {names.map((each, index) => (
                  <span key={index}>
                    {index > 0 && ", "}
                    <code>{each}</code>
                  </span>
                ))}
              </li>
            ))}
          </ul>
        </details>
      )}
      {step.error !== null && (
        <div class="repair">
          <p>
            <strong>{step.statement === null ? stepTexts.failedStep : stepTexts.failedStatement}.</strong>{" "}
            {step.error}
          </p>
          {step.statement !== null && <SqlText sql={step.statement} />}
        </div>
      )}
    </li>
  );
}

function Name({ step, opens }: { step: TakenStep; opens?: boolean }) {
  return (
    <>
      <span>
        {stepTexts.names[step.step] ?? step.step}
        {step.rows !== null && <span class="step-rows"> · {texts.rows.count(count(step.rows))}</span>}
        {opens && <Icon of={ChevronRight} size={14} />}
      </span>
      <span class="step-time">
        {step.endedAt === null ? <Elapsed since={step.startedAt} /> : duration(step.endedAt - step.startedAt)}
      </span>
    </>
  );
}

/** What the answer keeps of what a step used. Its columns are those of the last rows that were fetched. */
function usedIn(step: TakenStep, answer: Answer): Used[] {
  const { steps, head } = answer;
  if (step === steps.findLast((each) => each.step === "loading_context")) return knownIn(answer);
  if (head === null || step !== steps.findLast((each) => each.rows !== null)) return [];
  const names = head.columns.map((each) => each.name);
  const columns = { said: stepTexts.columns(names.length), names };
  return head.cutBy ? [columns, { said: texts.rows.cut[head.cutBy], names: [] }] : [columns];
}

/** Tables by their names; of knowledge and facts the answer has ids only. */
function knownIn({ context, remembered }: Answer): Used[] {
  const { tables, terms, instructions, examples } = context ?? NO_CONTEXT;
  const kinds: [string[], (number: number) => string][] = [
    [terms, stepTexts.terms],
    [instructions, stepTexts.instructions],
    [examples, stepTexts.examples],
    [remembered, stepTexts.facts],
  ];
  const known = kinds.filter(([ids]) => ids.length > 0);
  const counted = known.map(([ids, said]) => ({ said: said(ids.length), names: [] }));
  if (tables.length === 0) return counted;
  return [{ said: stepTexts.tables(tables.length), names: tables }, ...counted];
}
