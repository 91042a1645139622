import { Plus } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { readFact, type WantedFacts } from "../api/client";
import type { Fact } from "../api/types";
import { remembersFacts } from "../shared/capability";
import { Blank } from "../shared/blank";
import { Icon } from "../shared/icon";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { say } from "../shared/toasts";
import { FactCard } from "./fact_card";
import { SCOPES, useFacts } from "./facts";
import { KINDS } from "./turn";
import { ImportFacts } from "./import_facts";
import NewFactForm from "./new_fact";
import { memoryTexts } from "./texts";
import { useUnsent } from "../identity/unsent";

/** The facts by scope and kind; those that wait for the caller come first. */
export function FactsList({ version, onChange }: { version: number; onChange: () => void }) {
  const [wanted, setWanted] = useState<WantedFacts>({});
  const { facts, older, problem, load } = useFacts(wanted, version);
  const [adding, add] = useUnsent("new fact", false);
  const sought = useSoughtFact();
  const others = facts?.filter((each) => each.id !== sought?.id) ?? [];
  const { none, noneSteps, noneFound, more, remember, waiting, named, scopes } = memoryTexts.facts;
  const isFiltered = Object.values(wanted).some((each) => each !== undefined);
  const living = others.filter((each) => each.status !== "waiting");
  const groups = [
    { title: named, facts: sought ? [sought] : [] },
    { title: waiting, facts: others.filter((each) => each.status === "waiting") },
    ...SCOPES.map((scope) => ({ title: scopes[scope], facts: byKind(living, scope) })),
  ];
  return (
    <section class="entries">
      <header>
        <Filter wanted={wanted} onChange={setWanted} />
        {remembersFacts.value && (
          <div class="page-actions">
            <ImportFacts onChange={onChange} />
            <button type="button" class="button small" onClick={() => add(true)}>
              <Icon of={Plus} size={14} /> {remember}
            </button>
          </div>
        )}
      </header>
      {problem && <ProblemBox problem={problem} onRetry={() => void load()} />}
      {facts === null && !problem && <p class="quiet">{texts.loading} …</p>}
      {facts?.length === 0 && isFiltered && <p class="quiet">{noneFound}</p>}
      {facts?.length === 0 && !isFiltered && <Blank title={none} steps={noneSteps} />}
      {groups.map(
        (group) =>
          group.facts.length > 0 && (
            <section class="fact-group" key={group.title}>
              <h2>{group.title}</h2>
              {group.facts.map((each) => (
                <FactCard key={each.id} fact={each} sought={each === sought} onChange={onChange} />
              ))}
            </section>
          ),
      )}
      {older && (
        <button type="button" class="button small" onClick={() => void load(older)}>
          {more}
        </button>
      )}
      {adding && <NewFactForm onChange={onChange} onClose={() => add(false)} />}
    </section>
  );
}

const byKind = (facts: Fact[], scope: Fact["scope"]) =>
  KINDS.flatMap((kind) => facts.filter((each) => each.scope === scope && each.kind === kind));

/** Which facts are shown. */
function Filter({ wanted, onChange }: { wanted: WantedFacts; onChange: (wanted: WantedFacts) => void }) {
  const { search, anyScope, anyKind, scopes, kinds, statuses, fields } = memoryTexts.facts;
  return (
    <div class="fact-filter">
      <input
        type="search"
        aria-label={search}
        placeholder={search}
        maxLength={500}
        value={wanted.q ?? ""}
        onInput={(event) => onChange({ ...wanted, q: event.currentTarget.value.trim() || undefined })}
      />
      <Choice
        label={fields.scope}
        any={anyScope}
        names={scopes}
        chosen={wanted.scope}
        choose={(scope) => onChange({ ...wanted, scope })}
      />
      <Choice
        label={fields.kind}
        any={anyKind}
        names={kinds}
        chosen={wanted.kind}
        choose={(kind) => onChange({ ...wanted, kind })}
      />
      <Choice
        label={fields.status}
        any={statuses.living}
        names={{ waiting: statuses.waiting, superseded: statuses.superseded }}
        chosen={wanted.status}
        choose={(status) => onChange({ ...wanted, status })}
      />
    </div>
  );
}

interface ShownChoice<Key extends string> {
  label: string;
  any: string;
  names: Partial<Record<Key, string>>;
  chosen: Key | undefined;
  choose: (key: Key | undefined) => void;
}

function Choice<Key extends string>({ label, any, names, chosen, choose }: ShownChoice<Key>) {
  const onChange = (value: string) => choose((value || undefined) as Key | undefined);
  return (
    <select aria-label={label} value={chosen ?? ""} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{any}</option>
      {Object.entries<string | undefined>(names).map(([key, name]) => (
        <option key={key} value={key}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** The fact that the address names, wherever it is in the list. */
function useSoughtFact(): Fact | null {
  const [fact, setFact] = useState<Fact | null>(null);
  useEffect(() => {
    const id = location.hash.slice(1);
    if (id) readFact(id).then(setFact, () => say(memoryTexts.facts.gone));
  }, []);
  return fact;
}
