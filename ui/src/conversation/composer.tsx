import { ArrowUp, Square, X } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { About } from "../api/client";
import { Icon } from "../shared/icon";
import { texts } from "../shared/texts";
import { count } from "../shared/time";
import { type Draft, draft } from "./draft";
import { keepUnsent, unsentAt } from "../identity/unsent";
import "./composer.css";

const LONGEST = 8_000;

interface Shown {
  placeholder: string;
  /** Questions asked before, oldest first, for the arrow keys. */
  asked: string[];
  running: boolean;
  disabled?: boolean;
  onAsk: (question: string, about?: About) => void;
  onStop?: () => void;
  /** The place whose unsent words are kept: a session, or the start page. */
  place: string;
  /** A question that the page proposes. */
  proposed?: Draft | null;
  /** Shown under the field: the database and the mode. */
  children: ComponentChildren;
}

/** The field for questions. */
export function Composer(shown: Shown) {
  const { placeholder, asked, running, disabled, onAsk, onStop, place, proposed = null, children } = shown;
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useQuestion(place);
  const recall = useRecall(asked, text, setText);
  const tooLong = text.length > LONGEST;
  useEffect(() => fitHeight(field.current), [text]);
  useEffect(() => {
    // A slow page may load after the user has already moved the focus elsewhere.
    const taken = document.activeElement?.closest(".menu, input, textarea");
    if (matchMedia("(pointer: fine)").matches && !taken) field.current?.focus();
  }, []);
  useEffect(() => {
    if (proposed === null) return;
    setText(proposed.words);
    field.current?.focus();
  }, [proposed?.words, proposed?.about.id]);
  const ask = () => {
    if (!text.trim() || tooLong || disabled) return;
    setText("");
    onAsk(text.trim(), proposed?.about);
    draft.value = null;
  };
  const stop = () => {
    onStop?.();
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      ask();
    } else if (event.key === "Escape" && running && !event.isComposing) {
      stop();
    } else if (recall(event)) event.preventDefault();
  };
  return (
    <div class="composer">
      {proposed && <Subject label={proposed.label} />}
      <textarea
        ref={field}
        rows={1}
        aria-label={texts.composer.label}
        aria-describedby="composer-hint"
        aria-invalid={tooLong}
        placeholder={placeholder}
        disabled={disabled}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="composer-foot">
        <div class="composer-about">{tooLong ? texts.composer.tooLong(count(LONGEST)) : children}</div>
        <span id="composer-hint" class="visually-hidden">
          {texts.composer.hint}
        </span>
        {running && (
          <button type="button" class="button stop-button" title={texts.composer.stopHint} onClick={stop}>
            <Icon of={Square} size={12} /> {texts.composer.stop}
          </button>
        )}
        <button
          type="button"
          class="send-button"
          aria-label={texts.composer.send}
          disabled={!text.trim() || tooLong || disabled}
          onClick={ask}
        >
          <Icon of={ArrowUp} size={18} />
        </button>
      </div>
    </div>
  );
}

function useQuestion(place: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => unsentAt(place));
  const keep = (words: string) => {
    keepUnsent(place, words);
    setText(words);
  };
  return [text, keep];
}

/** The thing that a proposed question is about. Without it the question is an ordinary one. */
function Subject({ label }: { label: string }) {
  return (
    <p class="composer-subject">
      <span>
        {texts.composer.about} <strong>{label}</strong>
      </span>
      <button
        type="button"
        class="icon-button"
        aria-label={texts.composer.withoutSubject}
        title={texts.composer.withoutSubject}
        onClick={() => {
          draft.value = null;
        }}
      >
        <Icon of={X} size={14} />
      </button>
    </p>
  );
}

/** Arrow up in an empty field or a recalled question goes back through earlier questions; down returns. */
function useRecall(asked: string[], text: string, setText: (text: string) => void) {
  const [back, setBack] = useState(0);
  const shown = back === 0 ? "" : asked[asked.length - back];
  return (event: KeyboardEvent): boolean => {
    const by = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    if (by === 0 || text !== shown) return false;
    const next = Math.min(Math.max(back + by, 0), asked.length);
    if (next === back) return false;
    setBack(next);
    setText(next === 0 ? "" : (asked[asked.length - next] ?? ""));
    return true;
  };
}

/** As high as its text, within what the style sheet allows. */
function fitHeight(field: HTMLTextAreaElement | null): void {
  if (field === null) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}
