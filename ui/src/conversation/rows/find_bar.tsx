import { ChevronDown, ChevronUp, X } from "lucide";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../../shared/icon";
import { texts } from "../../shared/texts";
import { count } from "../../shared/time";
import { MOST_MATCHES } from "./find";
import { tableTexts } from "./table_texts";

interface Shown {
  sought: string;
  found: number;
  /** The position of the current match. */
  current: number;
  onSeek: (text: string) => void;
  onStep: (by: number) => void;
  onClose: () => void;
}

/** A field to find cells: Enter goes to the next, Shift-Enter to the one before, Escape closes it. */
export function FindBar({ sought, found, current, onSeek, onStep, onClose }: Shown) {
  const field = useRef<HTMLInputElement>(null);
  // Before the next key: what is typed at once belongs into the field.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter") onStep(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const all = found === MOST_MATCHES ? `${count(found)}+` : count(found);
  return (
    <div class="find-bar" role="search">
      <input
        ref={field}
        type="search"
        aria-label={tableTexts.find}
        placeholder={tableTexts.find}
        value={sought}
        onInput={(event) => onSeek(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span class="quiet" role="status">
        {sought.trim() && (found > 0 ? tableTexts.found(current + 1, all) : tableTexts.foundNone)}
      </span>
      <button type="button" class="icon-button" aria-label={tableTexts.previous} onClick={() => onStep(-1)}>
        <Icon of={ChevronUp} />
      </button>
      <button type="button" class="icon-button" aria-label={tableTexts.next} onClick={() => onStep(1)}>
        <Icon of={ChevronDown} />
      </button>
      <button type="button" class="icon-button" aria-label={texts.close} onClick={onClose}>
        <Icon of={X} />
      </button>
    </div>
  );
}
