import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { changeFact } from "../api/client";
import { asProblem } from "../api/problem";
import type { Fact, KeptFact, Problem } from "../api/types";
import { Dialog } from "../shared/dialog";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { memoryTexts } from "./texts";

interface Shown {
  title: string;
  /** Keeps what the form says; `confirm` once the person has read a guard's warning. */
  keep: (confirm: boolean) => Promise<KeptFact>;
  onKept: (kept: KeptFact) => void;
  onChange: () => void;
  onClose: () => void;
  children: ComponentChildren;
}

/** A form for a fact. Shows a guard's warning before the fact is kept, and similar facts after it. */
export function FactForm({ title, keep, onKept, onChange, onClose, children }: Shown) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [kept, setKept] = useState<KeptFact | null>(null);
  const send = async (confirm: boolean) => {
    setProblem(null);
    try {
      const answer = await keep(confirm);
      onKept(answer);
      if (answer.near.length > 0) setKept(answer);
      else onClose();
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  const warns = problem?.type === "urn:kai:fact-needs-confirmation";
  const onSubmit = (event: Event) => {
    event.preventDefault();
    void send(false);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {kept ? (
        <Similar kept={kept} onChange={onChange} onClose={onClose} />
      ) : (
        <form class="form" onSubmit={onSubmit}>
          {children}
          {problem && (
            <ProblemBox problem={problem} tone={warns ? "notice" : "error"}>
              {warns && (
                <button type="button" class="button small" onClick={() => void send(true)}>
                  {memoryTexts.facts.allTheSame}
                </button>
              )}
            </ProblemBox>
          )}
          <button type="submit" class="button primary">
            {texts.save}
          </button>
        </form>
      )}
    </Dialog>
  );
}

/** Facts that the kept one perhaps replaces: only a person decides that. */
function Similar({ kept, onChange, onClose }: { kept: KeptFact; onChange: () => void; onClose: () => void }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [replaced, setReplaced] = useState<string[]>([]);
  const { similar, replaceIt, replaced: done, keepBoth } = memoryTexts.facts;
  const act = (other: Fact) =>
    changeFact(kept.id, { supersedes: other.id }).then(
      () => {
        setReplaced([...replaced, other.id]);
        onChange();
      },
      (error: unknown) => setProblem(asProblem(error)),
    );
  return (
    <div class="form">
      <p>{similar}</p>
      <ul class="similar">
        {kept.near.map((each) => (
          <li key={each.id}>
            <span class="memory-text">{each.text}</span>
            {replaced.includes(each.id) ? (
              <span class="quiet">{done}</span>
            ) : (
              <button type="button" class="button small" onClick={() => void act(each)}>
                {replaceIt}
              </button>
            )}
          </li>
        ))}
      </ul>
      {problem && <ProblemBox problem={problem} />}
      <button type="button" class="button primary" onClick={onClose}>
        {replaced.length > 0 ? texts.close : keepBoth}
      </button>
    </div>
  );
}
