import { Eraser } from "lucide";
import { useState } from "preact/hooks";
import { countMemory, type CountedMemory, forgetMemory } from "../api/client";
import { asProblem } from "../api/problem";
import type { Problem, Unconfirmed } from "../api/types";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/icon";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { say } from "../shared/toasts";
import { memoryTexts } from "./texts";

/** Forgets everything of the caller, after a dialog that names what is forgotten and what stays. */
export function ForgetEverything({ onChange }: { onChange: () => void }) {
  const [asking, ask] = useState(false);
  const [left, setLeft] = useState<Unconfirmed[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [counted, count] = useState<CountedMemory | null>(null);
  const { button, title, lead, list, stays, sure, done, notConfirmed } = memoryTexts.everything;
  const open = () => {
    setLeft([]);
    setProblem(null);
    count(null);
    ask(true);
    countMemory().then(count, () => undefined); // it can be forgotten uncounted, too
  };
  const forget = async () => {
    try {
      const unconfirmed = await forgetMemory();
      setLeft(unconfirmed);
      onChange();
      if (unconfirmed.length > 0) return;
      ask(false);
      say(done);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    <>
      <button type="button" class="button" onClick={open}>
        <Icon of={Eraser} /> {button}
      </button>
      {asking && (
        <Dialog title={title} onClose={() => ask(false)}>
          <div class="form">
            {left.length > 0 ? (
              <ProblemBox problem={{ title: notConfirmed, detail: "" }} tone="notice">
                <ul class="forgotten">
                  {left.map((each) => (
                    <li key={each.what}>
                      {each.what}: {each.why}
                    </li>
                  ))}
                </ul>
              </ProblemBox>
            ) : (
              <>
                <p>{lead}</p>
                <ul class="forgotten">
                  {list(counted).map((each) => (
                    <li key={each}>{each}</li>
                  ))}
                </ul>
                <p class="quiet">{stays}</p>
              </>
            )}
            {problem && <ProblemBox problem={problem} />}
            <div class="problem-actions">
              {left.length === 0 && (
                <button type="button" class="button danger" onClick={() => void forget()}>
                  {sure}
                </button>
              )}
              <button type="button" class="button" onClick={() => ask(false)}>
                {left.length > 0 ? texts.close : texts.cancel}
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
