import { Plus } from "lucide";
import { useState } from "preact/hooks";
import { changeProfile } from "../api/client";
import { asProblem } from "../api/problem";
import type { Attribute, Problem } from "../api/types";
import { Icon } from "../shared/icon";
import { ProblemBox } from "../shared/problem_box";
import { memoryTexts } from "./texts";
import { useUnsent } from "../identity/unsent";

const LONGEST = 160;

/** Adds an item to the profile. Shows a guard's warning before the item is kept. */
export function NewItem({ onChange }: { onChange: () => void }) {
  const { attributes, item, attribute, add } = memoryTexts.profile;
  const [name, setName] = useUnsent<Attribute>("profile attribute", "output_preferences");
  const [text, setText] = useUnsent("profile item", "");
  const [problem, setProblem] = useState<Problem | null>(null);
  const send = async (confirm: boolean) => {
    setProblem(null);
    try {
      await changeProfile(name, { add: [text.trim()], confirm });
      setText("");
      onChange();
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  const warns = problem?.type === "urn:kai:profile-item-needs-confirmation";
  const onSubmit = (event: Event) => {
    event.preventDefault();
    void send(false);
  };
  return (
    <form class="new-item" onSubmit={onSubmit}>
      <select
        aria-label={attribute}
        value={name}
        onChange={(event) => setName(event.currentTarget.value as Attribute)}
      >
        {Object.entries(attributes).map(([key, title]) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
      <input
        aria-label={item}
        placeholder={item}
        required
        maxLength={LONGEST}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="button small">
        <Icon of={Plus} size={14} /> {add}
      </button>
      {problem && (
        <ProblemBox problem={problem} tone={warns ? "notice" : "error"}>
          {warns && (
            <button type="button" class="button small" onClick={() => void send(true)}>
              {memoryTexts.facts.allTheSame}
            </button>
          )}
        </ProblemBox>
      )}
    </form>
  );
}
