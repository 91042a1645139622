import { useState } from "preact/hooks";
import type { Problem } from "../api/types";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import type { PolicySet } from "./policies_api";
import { policyTexts } from "./texts";

interface Shown {
  policies: PolicySet;
  problem: Problem | null;
  /** Null: there are none any more. */
  onSave: (policies: PolicySet | null) => void;
}

/** All policies as the text that the API takes. */
export function PolicyText({ policies, problem, onSave }: Shown) {
  const [text, setText] = useState(JSON.stringify(policies, null, 2));
  const [fault, setFault] = useState("");
  const onSubmit = (event: Event) => {
    event.preventDefault();
    try {
      setFault("");
      onSave(JSON.parse(text) as PolicySet | null);
    } catch (error) {
      setFault(`${policyTexts.notJson}${(error as Error).message}`);
    }
  };
  return (
    <form class="form" onSubmit={onSubmit}>
      <label>
        <span>{policyTexts.fields.text}</span>
        <textarea
          rows={16}
          class="code"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <small>{policyTexts.fields.textHint}</small>
      </label>
      {fault && (
        <p class="warning" role="alert">
          {fault}
        </p>
      )}
      {problem && <ProblemBox problem={problem} />}
      <button type="submit" class="button primary">
        {texts.save}
      </button>
    </form>
  );
}
