import { Braces, Pencil, Plus, Trash2 } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Problem, Table } from "../api/types";
import { Blank } from "../shared/blank";
import { Dialog } from "../shared/dialog";
import { saveEdit } from "../shared/edits";
import { Icon } from "../shared/icon";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { say } from "../shared/toasts";
import "../knowledge/knowledge.css";
import {
  changePolicies,
  checkPolicies,
  type Fault,
  type HeldPolicies,
  type Policy,
  type PolicySet,
  readPolicies,
} from "./policies_api";
import { PolicyForm } from "./policy_form";
import { PolicyText } from "./policy_text";
import { policyTexts } from "./texts";
import { ViewAs } from "./view_as";
import { joinConditions, linesOfAttributes } from "./words";
import "./policies.css";

interface Shown {
  connectionId: string;
  tables: Table[];
}

type Editing = { policy: Policy | null } | "text" | null;

const EMPTY: PolicySet = { default: "allow", policies: [] };

/** The policies of a database, for its owner: read, edited, checked, and tried as a person. */
export default function PoliciesPart({ connectionId, tables }: Shown) {
  const { held, faults, problem, load, save } = usePolicies(connectionId);
  const [editing, edit] = useState<Editing>(null);
  const [refused, refuse] = useState<Problem | null>(null);
  const present = held?.policies ?? EMPTY;
  const policies = present.policies ?? [];
  const open = (what: Editing) => {
    refuse(null);
    edit(what);
  };
  const put = async (changed: PolicySet | string | null) => {
    refuse(null);
    try {
      await save(changed);
      edit(null);
    } catch (error) {
      if (editing === null) say(asProblem(error).detail);
      else refuse(asProblem(error));
    }
  };
  const putPolicy = (before: Policy | null, policy: Policy) => {
    const rest = before ? policies.map((each) => (each === before ? policy : each)) : [...policies, policy];
    void put({ ...present, policies: rest });
  };
  const remove = (policy: Policy) => {
    if (!confirm(policyTexts.sureRemove(policy.name))) return;
    void put({ ...present, policies: policies.filter((each) => each !== policy) });
  };
  const end = () => {
    if (confirm(policyTexts.sureEnd)) void put(null);
  };
  if (problem) return <ProblemBox problem={problem} onRetry={load} />;
  if (held === null) return <p class="quiet">{texts.loading} …</p>;
  const actions = (
    <div class="entries-actions">
      <button type="button" class="button primary" onClick={() => open({ policy: null })}>
        <Icon of={Plus} /> {policyTexts.add}
      </button>
      <button type="button" class="button" onClick={() => open("text")}>
        <Icon of={Braces} /> {policyTexts.asText}
      </button>
      {held.policies && (
        <button type="button" class="button plain danger" onClick={end}>
          {policyTexts.end}
        </button>
      )}
    </div>
  );
  return (
    <div class="policies">
      {held.policies === null ? (
        <Blank title={policyTexts.none} lead={policyTexts.noneLead} steps={policyTexts.noneSteps}>
          {actions}
        </Blank>
      ) : (
        <>
          <p class="quiet">{policyTexts.lead}</p>
          {actions}
          <label class="policy-default">
            <span>{policyTexts.default}</span>
            <select
              value={present.default}
              onChange={({ currentTarget: select }) => {
                const chosen = select.value as PolicySet["default"];
                select.value = present.default; // what holds until the other is saved
                void put({ ...present, default: chosen });
              }}
            >
              {(["allow", "deny"] as const).map((each) => (
                <option key={each} value={each}>
                  {policyTexts.defaults[each]}
                </option>
              ))}
            </select>
          </label>
          <Faults faults={faults} />
          {policies.map((each) => (
            <PolicyCard
              key={each.name}
              policy={each}
              onEdit={() => open({ policy: each })}
              onRemove={() => remove(each)}
            />
          ))}
          {present.trusted_views && present.trusted_views.length > 0 && (
            <p>{policyTexts.trustedViews(present.trusted_views.join(", "))}</p>
          )}
          <ViewAs connectionId={connectionId} />
        </>
      )}
      {editing === "text" && (
        <Dialog title={policyTexts.asText} onClose={() => edit(null)}>
          <PolicyText text={held.text} problem={refused} onSave={(text) => void put(text)} />
        </Dialog>
      )}
      {editing !== null && editing !== "text" && (
        <Dialog title={editing.policy?.name ?? policyTexts.add} onClose={() => edit(null)}>
          <PolicyForm
            policy={editing.policy}
            names={policies.filter((each) => each !== editing.policy).map((each) => each.name)}
            tables={tables}
            problem={refused}
            onSave={(policy) => putPolicy(editing.policy, policy)}
          />
        </Dialog>
      )}
    </div>
  );
}

/** The policies that hold with what a check finds in them, and a function that puts others in their place. */
function usePolicies(connectionId: string) {
  const [held, setHeld] = useState<HeldPolicies | null>(null);
  const [faults, setFaults] = useState<Fault[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const show = (read: HeldPolicies) => {
    setHeld(read);
    setFaults([]);
    if (read.policies) checkPolicies(connectionId, read.policies).then(setFaults, () => undefined);
  };
  const load = () => {
    setProblem(null);
    readPolicies(connectionId).then(show, (error: unknown) => setProblem(asProblem(error)));
  };
  useEffect(load, [connectionId]);
  /** Raises what `changePolicies` raises. */
  const save = async (policies: PolicySet | string | null) => {
    if (held === null) return;
    const asJson = (each: PolicySet | null) => (each ? JSON.stringify(each, null, 1) : "");
    const isSaved = await saveEdit({
      version: held.version,
      send: (version) => changePolicies(connectionId, policies, version),
      read: () => readPolicies(connectionId),
      beside: (theirs) => [
        {
          name: policyTexts.policies,
          ...(typeof policies === "string"
            ? { mine: policies, theirs: theirs.text }
            : { mine: asJson(policies), theirs: asJson(theirs.policies) }),
        },
      ],
    });
    show(await readPolicies(connectionId));
    if (isSaved) say(policies ? policyTexts.saved : policyTexts.ended);
  };
  return { held, faults, problem, load, save };
}

function Faults({ faults }: { faults: Fault[] }) {
  if (faults.length === 0) return null;
  return (
    <section>
      <h2>{policyTexts.faults}</h2>
      <ul class="policy-faults">
        {faults.map(({ kind, place, detail }) => (
          <li key={`${place} ${detail}`}>
            <span class={`entry-status ${kind === "error" ? "broken" : "proposed"}`}>
              {policyTexts[kind === "error" ? "error" : "warning"]}
            </span>{" "}
            {place}: {detail}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Card {
  policy: Policy;
  onEdit: () => void;
  onRemove: () => void;
}

function PolicyCard({ policy, onEdit, onRemove }: Card) {
  const schemas = policy.hidden_schemas ?? [];
  return (
    <article class="entry">
      <header>
        <h2>{policy.name}</h2>
        {policy.always && <span class="entry-status verified">{policyTexts.always}</span>}
        <button
          type="button"
          class="icon-button"
          aria-label={`${policyTexts.edit}: ${policy.name}`}
          onClick={onEdit}
        >
          <Icon of={Pencil} size={15} />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label={`${texts.remove}: ${policy.name}`}
          onClick={onRemove}
        >
          <Icon of={Trash2} size={15} />
        </button>
      </header>
      <p class="quiet">{subjectOf(policy)}</p>
      <ul class="policy-tables">
        {Object.entries(policy.tables ?? {}).map(([name, says]) => (
          <li key={name}>
            <strong>{name}</strong>:{" "}
            {says.hidden ? policyTexts.hiddenTable : <code>{rowsOf(says.rows ?? null)}</code>}
            {Object.entries(says.columns ?? {}).map(([column, mask]) => (
              <span key={column}>
                {" · "}
                <code>{column}</code> {policyTexts.masks[mask]}
              </span>
            ))}
          </li>
        ))}
      </ul>
      {schemas.length > 0 && <p>{policyTexts.hiddenSchemas(schemas.join(", "))}</p>}
    </article>
  );
}

function rowsOf(rows: string[] | "all" | null): string {
  if (rows === null) return policyTexts.noRows;
  return rows === "all" ? policyTexts.allRows : joinConditions(rows);
}

/** For whom a policy holds, in one line. */
function subjectOf({ roles = [], groups = [], when = {} }: Policy): string {
  const parts = [
    roles.length > 0 && policyTexts.roles(roles.join(", ")),
    groups.length > 0 && policyTexts.groups(groups.join(", ")),
    Object.keys(when).length > 0 && policyTexts.when(linesOfAttributes(when).split("\n").join(", ")),
  ];
  return parts.filter(Boolean).join(" · ") || policyTexts.everyone;
}
