import { Plus, Trash2 } from "lucide";
import { useState } from "preact/hooks";
import type { Problem, Table } from "../api/types";
import { Icon } from "../shared/icon";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import type { Policy } from "./policies_api";
import { policyTexts } from "./texts";
import { conditionsOf, linesOfAttributes, linesOfConditions, listOf, whenOf } from "./words";

type TablePolicy = NonNullable<Policy["tables"]>[string];
type Mask = NonNullable<TablePolicy["columns"]>[string];

interface Shown {
  policy: Policy | null;
  /** Names of the other policies. */
  names: string[];
  tables: Table[];
  problem: Problem | null;
  onSave: (policy: Policy) => void;
}

/** What the form holds of a table. */
interface TableDraft {
  name: string;
  rows: string;
  columns: [name: string, mask: Mask][];
  hidden: boolean;
}

const MASKS = Object.keys(policyTexts.masks) as Mask[];

/** The fields of one policy. What it has none of stays as it is. */
export function PolicyForm({ policy, names, tables, problem, onSave }: Shown) {
  const [name, setName] = useState(policy?.name ?? "");
  const [roles, setRoles] = useState(policy?.roles?.join(", ") ?? "");
  const [groups, setGroups] = useState(policy?.groups?.join(", ") ?? "");
  const [when, setWhen] = useState(linesOfAttributes(policy?.when));
  const [always, setAlways] = useState(policy?.always ?? false);
  const [drafts, setDrafts] = useState<TableDraft[]>(draftsOf(policy));
  const [fault, setFault] = useState("");
  const { fields } = policyTexts;
  const unused = tables.filter((table) => !drafts.some((draft) => draft.name === table.name));
  const onSubmit = (event: Event) => {
    event.preventDefault();
    const given = whenOf(when, policy?.when);
    const isTwice = names.includes(name.trim());
    setFault(given === null ? policyTexts.notAttributes : isTwice ? policyTexts.twice : "");
    if (given === null || isTwice) return;
    onSave({
      ...policy,
      name: name.trim(),
      roles: listOf(roles),
      groups: listOf(groups),
      when: given,
      always,
      tables: Object.fromEntries(drafts.map((draft) => [draft.name, says(draft)])),
    });
  };
  const change = (at: number, changed: Partial<TableDraft>) =>
    setDrafts(drafts.map((each, index) => (index === at ? { ...each, ...changed } : each)));
  return (
    <form class="form" onSubmit={onSubmit}>
      <label>
        <span>{fields.name}</span>
        <input
          required
          maxLength={100}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label>
        <span>{fields.roles}</span>
        <input value={roles} onInput={(event) => setRoles(event.currentTarget.value)} />
        <small>{fields.subjectHint}</small>
      </label>
      <label>
        <span>{fields.groups}</span>
        <input value={groups} onInput={(event) => setGroups(event.currentTarget.value)} />
        <small>{fields.subjectHint}</small>
      </label>
      <label>
        <span>{fields.when}</span>
        <textarea
          rows={2}
          class="code"
          value={when}
          onInput={(event) => setWhen(event.currentTarget.value)}
        />
        <small>{fields.whenHint}</small>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={always}
          onChange={(event) => setAlways(event.currentTarget.checked)}
        />
        <span>{fields.always}</span>
      </label>
      {drafts.map((draft, at) => (
        <TableFields
          key={at}
          draft={draft}
          choices={[...new Set([draft.name, ...unused.map((table) => table.name)])]}
          columns={tables.find((table) => table.name === draft.name)?.columns.map((each) => each.name) ?? []}
          change={(changed) => change(at, changed)}
          onRemove={() => setDrafts(drafts.filter((_, index) => index !== at))}
        />
      ))}
      {unused[0] && (
        <button
          type="button"
          class="button small"
          onClick={() =>
            setDrafts([...drafts, { name: unused[0]?.name ?? "", rows: "", columns: [], hidden: false }])
          }
        >
          <Icon of={Plus} size={14} /> {fields.addTable}
        </button>
      )}
      {fault && (
        <p class="warning" role="alert">
          {fault}
        </p>
      )}
      {problem && <ProblemBox problem={problem} />}
      <button type="submit" class="button primary">
        {texts.save}
      </button>
    </form>
  );
}

function draftsOf(policy: Policy | null): TableDraft[] {
  return Object.entries(policy?.tables ?? {}).map(([name, { rows, columns, hidden }]) => ({
    name,
    rows: Array.isArray(rows) ? linesOfConditions(rows) : (rows ?? ""),
    columns: Object.entries(columns ?? {}),
    hidden: hidden ?? false,
  }));
}

function says({ rows, columns, hidden }: TableDraft): TablePolicy {
  const conditions = conditionsOf(rows);
  const isAll = conditions.length === 1 && conditions[0] === "all";
  return {
    ...(conditions.length > 0 && { rows: isAll ? ("all" as const) : conditions }),
    ...(columns.length > 0 && { columns: Object.fromEntries(columns) }),
    hidden,
  };
}

interface TableShown {
  draft: TableDraft;
  choices: string[];
  columns: string[];
  change: (changed: Partial<TableDraft>) => void;
  onRemove: () => void;
}

function TableFields({ draft, choices, columns, change, onRemove }: TableShown) {
  const { fields, masks } = policyTexts;
  const unused = columns.filter((name) => !draft.columns.some(([used]) => used === name));
  const setColumn = (at: number, changed: [string, Mask] | null) =>
    change({
      columns: draft.columns.flatMap((each, index) => (index === at ? (changed ? [changed] : []) : [each])),
    });
  return (
    <fieldset class="policy-table">
      <div class="policy-head">
        <label>
          <span>{fields.table}</span>
          <select
            value={draft.name}
            onChange={(event) => change({ name: event.currentTarget.value, columns: [] })}
          >
            {choices.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          class="icon-button"
          aria-label={fields.removeTable(draft.name)}
          onClick={onRemove}
        >
          <Icon of={Trash2} size={15} />
        </button>
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={draft.hidden}
          onChange={(event) => change({ hidden: event.currentTarget.checked })}
        />
        <span>{fields.hidden}</span>
      </label>
      <label>
        <span>{fields.rows}</span>
        <textarea
          rows={2}
          class="code"
          value={draft.rows}
          onInput={(event) => change({ rows: event.currentTarget.value })}
        />
        <small>{fields.rowsHint}</small>
      </label>
      {draft.columns.map(([column, mask], at) => (
        <div class="policy-row" key={column}>
          <label>
            <span>{fields.column}</span>
            <select value={column} onChange={(event) => setColumn(at, [event.currentTarget.value, mask])}>
              {[...new Set([column, ...unused])].map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span>{fields.mask}</span>
            <select
              value={mask}
              onChange={(event) => setColumn(at, [column, event.currentTarget.value as Mask])}
            >
              {MASKS.map((each) => (
                <option key={each} value={each}>
                  {masks[each]}
                </option>
              ))}
            </select>
          </label>
          <button
            type="button"
            class="icon-button"
            aria-label={fields.removeColumn(column)}
            onClick={() => setColumn(at, null)}
          >
            <Icon of={Trash2} size={15} />
          </button>
        </div>
      ))}
      {unused[0] && (
        <button
          type="button"
          class="button small"
          onClick={() => change({ columns: [...draft.columns, [unused[0] ?? "", "hidden"]] })}
        >
          <Icon of={Plus} size={14} /> {fields.addColumn}
        </button>
      )}
    </fieldset>
  );
}
