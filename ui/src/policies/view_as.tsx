import { useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Problem } from "../api/types";
import { ProblemBox } from "../shared/problem_box";
import { SqlText } from "../shared/sql_text";
import { type LimitedStatement, tryPolicies } from "./policies_api";
import { policyTexts } from "./texts";
import { attributesOf } from "./words";

/** A statement as it would run for a person, and what each policy does to it. */
export function ViewAs({ connectionId }: { connectionId: string }) {
  const [owner, setOwner] = useState("");
  const [known, setKnown] = useState("");
  const [sql, setSql] = useState("");
  const [isAsked, setAsked] = useState(false);
  const [shown, show] = useState<LimitedStatement | null>(null);
  const [fault, setFault] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const look = async () => {
    const attributes = attributesOf(known);
    show(null);
    setProblem(null);
    setFault(attributes === null ? policyTexts.notAttributes : "");
    if (attributes === null) return;
    setAsked(true);
    try {
      show(await tryPolicies(connectionId, { sql, owner: owner.trim(), attributes }));
    } catch (error) {
      setProblem(asProblem(error));
    }
    setAsked(false);
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    if (!isAsked) void look();
  };
  return (
    <section class="view-as">
      <h2>{policyTexts.view}</h2>
      <p class="quiet">{policyTexts.viewLead}</p>
      <form class="form" onSubmit={onSubmit}>
        <label>
          <span>{policyTexts.person}</span>
          <input required value={owner} onInput={(event) => setOwner(event.currentTarget.value)} />
          <small>{policyTexts.personHint}</small>
        </label>
        <label>
          <span>{policyTexts.attributes}</span>
          <textarea
            rows={2}
            class="code"
            value={known}
            onInput={(event) => setKnown(event.currentTarget.value)}
          />
          <small>{policyTexts.attributesHint}</small>
        </label>
        <label>
          <span>{policyTexts.statement}</span>
          <textarea
            rows={4}
            class="code"
            required
            spellcheck={false}
            value={sql}
            onInput={(event) => setSql(event.currentTarget.value)}
          />
        </label>
        {fault && (
          <p class="warning" role="alert">
            {fault}
          </p>
        )}
        <button type="submit" class="button" aria-disabled={isAsked}>
          {policyTexts.show}
        </button>
      </form>
      {problem && <ProblemBox problem={problem} />}
      {shown && (
        <div role="status">
          <dl>
            <dt>{policyTexts.rowsBy}</dt>
            <dd>{shown.row_policies.join(", ") || policyTexts.noPolicy}</dd>
            <dt>{policyTexts.columnsBy}</dt>
            <dd>{shown.column_policies.join(", ") || policyTexts.noPolicy}</dd>
          </dl>
          {shown.has_barrier && <p class="quiet">{policyTexts.barrier}</p>}
          <SqlText sql={shown.sql} />
        </div>
      )}
    </section>
  );
}
