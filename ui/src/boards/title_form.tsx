import { useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Problem } from "../api/types";
import { ProblemBox } from "../shared/problem_box";
import { useUnsent } from "../identity/unsent";

interface Shown {
  /** Name of the form, for what is not sent yet. */
  form: string;
  title: string;
  /** The version that has the title. */
  version?: number;
  label: string;
  save: string;
  /** Saves the title, as an edit of the version that the form was opened with. */
  onSave: (title: string, version: number) => Promise<unknown>;
}

/** A form with a title as its only field. */
export function TitleForm({ form, title, version = 0, label, save, onSave }: Shown) {
  const [opened] = useState(version);
  const [written, write] = useUnsent(form, title);
  const [problem, setProblem] = useState<Problem | null>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    setProblem(null);
    onSave(written.trim(), opened).catch((error: unknown) => setProblem(asProblem(error)));
  };
  return (
    <form class="form" onSubmit={submit}>
      <label>
        {label}
        <input
          required
          autofocus
          maxLength={200}
          value={written}
          onInput={(event) => write(event.currentTarget.value)}
        />
      </label>
      {problem && <ProblemBox problem={problem} />}
      <button type="submit" class="button primary" disabled={written.trim() === ""}>
        {save}
      </button>
    </form>
  );
}
