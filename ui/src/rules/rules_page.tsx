import { Pencil, Plus, Trash2 } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { addRule, changeRule, deleteRule, listRules } from "../api/client";
import { asProblem } from "../api/problem";
import type { Problem, Rule } from "../api/types";
import { connectionOf, connections, refreshConnections } from "../connections/connections";
import { isAdmin, mayManage } from "../identity/me";
import { Blank } from "../shared/blank";
import { Dialog } from "../shared/dialog";
import { type Difference, saveEdit } from "../shared/edits";
import { Icon } from "../shared/icon";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { say } from "../shared/toasts";
import { SwitchedOff } from "../tools/switched_off";
import { RuleForm } from "./rule_form";
import "../knowledge/knowledge.css";
import { ruleTexts } from "./texts";
import { useUnsent } from "../identity/unsent";

/** The rules that models follow: who wrote them, where they apply, and what is wrong with them. */
export default function RulesPage() {
  const { rules, problem, act, load } = useRules();
  const isOff = problem?.status === 404;
  const [edited, edit] = useUnsent<Rule | "new" | null>("rule", null);
  useEffect(() => {
    document.title = `${texts.rules.title} · ${texts.product}`;
    if (connections.value === null) void refreshConnections();
  }, []);
  const save = async (fields: Parameters<typeof addRule>[0]) => {
    const { name, ...rest } = fields;
    const saved =
      edited === null || edited === "new"
        ? addRule(fields)
        : saveEdit({
            version: edited.version,
            send: (version) => changeRule(name, rest, version),
            read: async () => (await listRules()).find((each) => each.name === name),
            beside: (theirs) => differencesOf(fields, theirs),
          });
    if (await act(saved)) edit(null);
  };
  return (
    <div class="page">
      <header class="page-head">
        <div>
          <h1>{texts.rules.title}</h1>
          <p class="quiet">{ruleTexts.lead}</p>
        </div>
        {mayManage.value && !isOff && (
          <button type="button" class="button primary" onClick={() => edit("new")}>
            <Icon of={Plus} /> {ruleTexts.add}
          </button>
        )}
      </header>
      {isOff && <SwitchedOff what="rules" />}
      {problem && !isOff && <ProblemBox problem={problem} onRetry={load} />}
      {rules === null && !problem && <p class="quiet">{texts.loading} …</p>}
      {rules?.length === 0 && (
        <Blank title={ruleTexts.none} lead={ruleTexts.noneLead} steps={ruleTexts.noneSteps} />
      )}
      <div class="entries">
        {rules?.map((each) => (
          <RuleCard
            key={`${each.source} ${each.name} ${each.path}`}
            rule={each}
            onEdit={() => edit(each)}
            onToggle={() => void act(changeRule(each.name, { active: !each.active }))}
            onRemove={() => void act(deleteRule(each.name))}
          />
        ))}
      </div>
      {edited && (
        <Dialog title={edited === "new" ? ruleTexts.add : edited.name} onClose={() => edit(null)}>
          <RuleForm rule={edited === "new" ? null : edited} onSave={(fields) => void save(fields)} />
        </Dialog>
      )}
    </div>
  );
}

/** The fields of an edited rule beside those of the stored one. */
function differencesOf(mine: Parameters<typeof addRule>[0], theirs: Rule): Difference[] {
  const { fields, applies, priority } = ruleTexts;
  return [
    { name: fields.text, mine: mine.text, theirs: theirs.text },
    { name: fields.apply, mine: applies[mine.apply ?? theirs.apply], theirs: applies[theirs.apply] },
    {
      name: fields.priority,
      mine: priority(mine.priority ?? theirs.priority),
      theirs: priority(theirs.priority),
    },
    {
      name: fields.patterns,
      mine: mine.scope?.table_patterns?.join(", ") ?? "",
      theirs: theirs.scope.table_patterns.join(", "),
    },
  ];
}

/** The rules, and a function that changes them and reads them again. Shows an error. */
function useRules() {
  const [rules, setRules] = useState<Rule[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const read = () => listRules().then(setRules, (error: unknown) => setProblem(asProblem(error)));
  const load = () => {
    setProblem(null);
    void read();
  };
  useEffect(load, []);
  const act = async (done: Promise<unknown>): Promise<boolean> => {
    try {
      await done;
    } catch (error) {
      say(asProblem(error).detail);
      return false;
    }
    await read();
    return true;
  };
  return { rules, problem, act, load };
}

interface Shown {
  rule: Rule;
  onEdit: () => void;
  onToggle: () => void;
  onRemove: () => void;
}

function RuleCard({ rule, onEdit, onToggle, onRemove }: Shown) {
  const { on, off, applies, writtenBy, fromFile, priority, switchOff, switchOn, edit } = ruleTexts;
  const isStored = rule.source === "stored";
  const mayChange = isAdmin.value || (mayManage.value && isStored && rule.scope.connections.length > 0);
  return (
    <article class="entry">
      <header>
        <h2>{rule.name}</h2>
        <span class={`entry-status ${rule.active ? "verified" : "rejected"}`}>{rule.active ? on : off}</span>
        {mayChange && isStored && (
          <>
            <button type="button" class="icon-button" aria-label={`${edit}: ${rule.name}`} onClick={onEdit}>
              <Icon of={Pencil} size={15} />
            </button>
            <button
              type="button"
              class="icon-button"
              aria-label={`${texts.remove}: ${rule.name}`}
              onClick={onRemove}
            >
              <Icon of={Trash2} size={15} />
            </button>
          </>
        )}
      </header>
      <p class="quiet">
        {isStored ? writtenBy(rule.owner ?? "") : fromFile(rule.path ?? "")} · {applies[rule.apply]} ·{" "}
        {priority(rule.priority)} · {scopeOf(rule)}
      </p>
      <p class="rule-text">{rule.text}</p>
      {rule.warnings.map((warning) => (
        <p class="warning" key={warning}>
          {warning}
        </p>
      ))}
      {mayChange && (
        <div class="problem-actions">
          <button type="button" class="button small" onClick={onToggle}>
            {rule.active ? switchOff : switchOn}
          </button>
        </div>
      )}
    </article>
  );
}

/** Where a rule may apply, in one line. */
function scopeOf({ scope }: Rule): string {
  const names = scope.connections.map((id) => connectionOf(id)?.name ?? id);
  const modes = scope.chat_modes.map((each) => texts.composer.mode[each]);
  const parts = [names, modes, scope.table_patterns].filter((each) => each.length > 0);
  return parts.map((each) => each.join(", ")).join(" · ") || ruleTexts.everywhere;
}
