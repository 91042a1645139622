import { investigates } from "../../shared/capability";
import { texts } from "../../shared/texts";
import { Analysis } from "../analysis/analysis";
import type { FindOrigin } from "../analysis/sources";
import type { Answer } from "../model";
import { openCall } from "./open_call";
import "./investigation.css";

/** Findings that the text of the answer does not have: those of answers that earlier versions have stored. */
export function Findings({ answer, origin }: { answer: Answer; origin: FindOrigin }) {
  const others = answer.findings.filter(({ text }) => !answer.analysis.includes(text));
  if (others.length === 0 || !investigates.value) return null;
  return (
    <section class="findings" aria-label={texts.investigation.findings}>
      <h3>{texts.investigation.findings}</h3>
      <ul>
        {others.map(({ text, reading, references }, index) => (
          <li key={index}>
            <Analysis text={text} references={references} origin={origin} as="finding" />
            {reading && (
              <p class="model-reading">
                <em>{texts.investigation.reading}</em> {reading}
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The results that the references of an answer name: its own rows, and those of its calls. */
export function originIn(answer: Answer, showRows: (() => void) | null): FindOrigin {
  const calls = (answer.investigation ?? []).flatMap((step) => step.calls);
  return (resultId) => {
    if (resultId === null) return { head: answer.head, open: answer.head && showRows };
    const call = calls.find((each) => each.id === resultId);
    return call ? { head: call.head, open: () => openCall(call.id) } : null;
  };
}
