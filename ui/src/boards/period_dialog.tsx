import { useState } from "preact/hooks";
import type { Pin } from "../api/types";
import { Dialog } from "../shared/dialog";
import { orSay } from "../shared/or_say";
import type { OpenBoard } from "./board";
import { daysOf } from "./period";
import { periodTexts } from "./texts";

interface Shown {
  pin: Pin;
  open: OpenBoard;
  onClose: () => void;
}

/** How the period of its board was applied to a pin, or why not, and by which dates it shall be. */
export default function PeriodDialog({ pin, open, onClose }: Shown) {
  const [by, choose] = useState(pin.period_by ?? "");
  const { period } = pin;
  const submit = (event: Event) => {
    event.preventDefault();
    orSay(open.restrictBy(pin, by === "" ? null : by).then(onClose));
  };
  return (
    <Dialog title={periodTexts.of(pin.title)} onClose={onClose}>
      <p>
        {period?.reason ? (
          <>
            <strong>{periodTexts.none}.</strong> {period.reason}
          </>
        ) : (
          <>
            <strong>{daysOf(pin)}.</strong> {periodTexts.whole}
          </>
        )}
      </p>
      {period && period.choices.length > 0 && (
        <form class="form" onSubmit={submit}>
          <label>
            {periodTexts.choose}
            <select value={by} onChange={(event) => choose(event.currentTarget.value)}>
              <option value="">{periodTexts.found}</option>
              {period.choices.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
          <button type="submit" class="button primary">
            {periodTexts.save}
          </button>
        </form>
      )}
    </Dialog>
  );
}
