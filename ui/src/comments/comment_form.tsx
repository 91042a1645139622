import { useRef, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Problem } from "../api/types";
import { ProblemBox } from "../shared/problem_box";
import { commentTexts } from "./texts";

interface Shown {
  /** Those who are offered for a mention. */
  people: string[];
  /** The text to change; none for a new comment. */
  given?: string;
  onSend: (text: string) => Promise<void>;
  onCancel?: () => void;
}

/** Asks for the text of a comment. Ctrl-Enter sends it, too. */
export function CommentForm({ people, given = "", onSend, onCancel }: Shown) {
  const [text, setText] = useState(given);
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const submit = async () => {
    if (text.trim() === "" || sending) return;
    setProblem(null);
    setSending(true);
    try {
      await onSend(text);
      setText("");
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      setSending(false);
    }
  };
  const mention = (name: string) => {
    setText(`${text}${text === "" || /\s$/.test(text) ? "" : " "}@${name} `);
    area.current?.focus();
  };
  return (
    <form
      class="form comment-form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label>
        {commentTexts.label}
        <textarea
          ref={area}
          rows={2}
          maxLength={4_000}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            void submit();
          }}
        />
        <small class="quiet">{commentTexts.hint}</small>
      </label>
      {problem && <ProblemBox problem={problem} />}
      <div class="comment-send">
        <button type="submit" class="button primary small" disabled={text.trim() === "" || sending}>
          {onCancel ? commentTexts.save : commentTexts.add}
        </button>
        {onCancel && (
          <button type="button" class="button small" onClick={onCancel}>
            {commentTexts.cancel}
          </button>
        )}
        {people.map((name) => (
          <button
            key={name}
            type="button"
            class="button small"
            aria-label={commentTexts.mention(name)}
            onClick={() => mention(name)}
          >
            @{name}
          </button>
        ))}
      </div>
    </form>
  );
}
