import type { addRule } from "../api/client";
import type { Rule } from "../api/types";
import { connections } from "../connections/connections";
import { isAdmin } from "../identity/me";
import { texts } from "../shared/texts";
import { ruleTexts } from "./texts";
import { useUnsent } from "../identity/unsent";

interface Shown {
  rule: Rule | null;
  onSave: (fields: Parameters<typeof addRule>[0]) => void;
}

const APPLIES = ["always", "auto", "manual"] as const;
const DEFAULT_PRIORITY = 100;

/** The fields of a rule. A rule without a database is for all, which only administrators may say. */
export function RuleForm({ rule, onSave }: Shown) {
  const form = `rule ${rule?.name ?? ""}`;
  const [name, setName] = useUnsent(`${form} name`, rule?.name ?? "");
  const [text, setText] = useUnsent(`${form} text`, rule?.text ?? "");
  const [apply, setApply] = useUnsent<Rule["apply"]>(`${form} apply`, rule?.apply ?? "always");
  const [priority, setPriority] = useUnsent(`${form} priority`, rule?.priority ?? DEFAULT_PRIORITY);
  const [connection, setConnection] = useUnsent(
    `${form} database`,
    rule?.scope.connections[0] ?? connections.value?.[0]?.id ?? "",
  );
  const [patterns, setPatterns] = useUnsent(`${form} tables`, rule?.scope.table_patterns.join(", ") ?? "");
  const fields = ruleTexts.fields;
  const onSubmit = (event: Event) => {
    event.preventDefault();
    const kept = rule?.scope.connections.slice(1) ?? [];
    const scope = {
      connections: connection ? [connection, ...kept] : [],
      chat_modes: rule?.scope.chat_modes ?? [],
      table_patterns: patterns.split(",").flatMap((each) => each.trim() || []),
    };
    onSave({ name: name.trim(), text: text.trim(), apply, priority, scope });
  };
  return (
    <form class="form" onSubmit={onSubmit}>
      <label>
        <span>{fields.name}</span>
        <input
          required
          disabled={rule !== null}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label>
        <span>{fields.text}</span>
        <textarea rows={5} required value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <label>
        <span>{fields.connection}</span>
        <select value={connection} onChange={(event) => setConnection(event.currentTarget.value)}>
          {isAdmin.value && <option value="">{ruleTexts.everyDatabase}</option>}
          {connections.value?.map((each) => (
            <option key={each.id} value={each.id}>
              {each.name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{fields.apply}</span>
        <select value={apply} onChange={(event) => setApply(event.currentTarget.value as Rule["apply"])}>
          {APPLIES.map((each) => (
            <option key={each} value={each}>
              {ruleTexts.applies[each]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{fields.patterns}</span>
        <input value={patterns} onInput={(event) => setPatterns(event.currentTarget.value)} />
      </label>
      <label>
        <span>{fields.priority}</span>
        <input
          type="number"
          required
          value={priority}
          onInput={(event) => setPriority(event.currentTarget.valueAsNumber)}
        />
      </label>
      <button type="submit" class="button primary">
        {texts.save}
      </button>
    </form>
  );
}
