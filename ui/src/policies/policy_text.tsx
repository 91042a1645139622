import { useState } from "preact/hooks";
import type { Problem } from "../api/types";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { policyTexts } from "./texts";

interface Shown {
  text: string;
  problem: Problem | null;
  onSave: (text: string) => void;
}

/** All policies as YAML. */
export function PolicyText({ text: before, problem, onSave }: Shown) {
  const [text, setText] = useState(before);
  const onSubmit = (event: Event) => {
    event.preventDefault();
    onSave(text);
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
      {problem && <ProblemBox problem={problem} />}
      <button type="submit" class="button primary">
        {texts.save}
      </button>
    </form>
  );
}
