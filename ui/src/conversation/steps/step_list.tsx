import { ChevronRight } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { readProvenance } from "../../api/client";
import type { Provenance } from "../../api/types";
import { Elapsed } from "../../shared/elapsed";
import { Icon } from "../../shared/icon";
import { orSay } from "../../shared/or_say";
import { SqlText } from "../../shared/sql_text";
import { texts } from "../../shared/texts";
import { count, duration } from "../../shared/time";
import type { Answer, TakenStep } from "../model";
import { stepTexts } from "./texts";
import "./step_list.css";

/** Something that a step used: how many, and their names as far as they are known. */
interface Used {
  said: string;
  names: string[];
}

interface Shown {
  answer: Answer;
  /** Null for a reader of a link, who may not read by name what was known. */
  sessionId: string | null;
}

const NO_CONTEXT = { tables: [], terms: [], instructions: [], examples: [] };

/** The steps of an answer, with their times and what failed. One that used something opens to it. */
export default function StepList({ answer, sessionId }: Shown) {
  const knowledge = useKnowledge(answer, sessionId);
  return (
    <ol class="steps">
      {answer.steps.map((step) => (
        <StepLine key={`${step.step} ${step.startedAt}`} step={step} used={usedIn(step, answer, knowledge)} />
      ))}
    </ol>
  );
}

/** What the writer of the statement knew, by name: the answer itself has ids only. Null until it is read. */
function useKnowledge(
  { context, remembered, messageId }: Answer,
  sessionId: string | null,
): Provenance["knowledge"] {
  const [known, setKnown] = useState<Provenance["knowledge"]>(null);
  const { terms, instructions, examples } = context ?? NO_CONTEXT;
  const some = terms.length + instructions.length + examples.length + remembered.length > 0;
  useEffect(() => {
    if (some && sessionId !== null && messageId !== null)
      orSay(readProvenance(sessionId, messageId).then(({ knowledge }) => setKnown(knowledge)));
  }, [some, messageId]);
  return known;
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
        {step.tokens > 0 && <span class="step-rows"> · {texts.answer.tokens(count(step.tokens))}</span>}
        {opens && <Icon of={ChevronRight} size={14} />}
      </span>
      <span class="step-time">
        {step.endedAt === null ? <Elapsed since={step.startedAt} /> : duration(step.endedAt - step.startedAt)}
      </span>
    </>
  );
}

/** What the answer keeps of what a step used. Its columns are those of the last rows that were fetched. */
function usedIn(step: TakenStep, answer: Answer, knowledge: Provenance["knowledge"]): Used[] {
  const { steps, head } = answer;
  if (step === steps.findLast((each) => each.step === "loading_context")) return knownIn(answer, knowledge);
  if (head === null || step !== steps.findLast((each) => each.rows !== null)) return [];
  const names = head.columns.map((each) => each.name);
  const columns = { said: stepTexts.columns(names.length), names };
  return head.cutBy ? [columns, { said: texts.rows.cut[head.cutBy], names: [] }] : [columns];
}

/** What was deleted since has no name any more. */
function knownIn({ context, remembered }: Answer, knowledge: Provenance["knowledge"]): Used[] {
  const { tables, terms, instructions, examples } = context ?? NO_CONTEXT;
  const kinds: [number, (number: number) => string, string[]][] = [
    [tables.length, stepTexts.tables, tables],
    [terms.length, stepTexts.terms, knowledge?.terms.map((each) => each.term) ?? []],
    [instructions.length, stepTexts.instructions, knowledge?.instructions.map((each) => each.text) ?? []],
    [examples.length, stepTexts.examples, knowledge?.examples.map((each) => each.question) ?? []],
    [remembered.length, stepTexts.facts, knowledge?.facts.map((each) => each.text) ?? []],
  ];
  return kinds.flatMap(([number, said, names]) => (number > 0 ? [{ said: said(number), names }] : []));
}
