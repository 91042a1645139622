import type { Fact } from "../api/types";
import { connectionOf, connections } from "../connections/connections";
import { mayChange } from "../identity/me";
import { SCOPES } from "./facts";
import { LONGEST } from "./turn";
import { memoryTexts } from "./texts";

type Scope = Fact["scope"];

/** The scopes that the caller may write to; only a database's owner writes for all of its users. */
export function reachable(connectionId: string): Scope[] {
  return SCOPES.filter((each) => each !== "shared" || mayChange(connectionOf(connectionId)));
}

/** The sentence of a fact. */
export function TextField({ text, change }: { text: string; change: (text: string) => void }) {
  return (
    <label>
      <span>{memoryTexts.facts.fields.text}</span>
      <textarea
        rows={3}
        required
        maxLength={LONGEST}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
    </label>
  );
}

export function ScopeField({
  scopes,
  scope,
  choose,
}: {
  scopes: Scope[];
  scope: Scope;
  choose: (scope: Scope) => void;
}) {
  const { fields, reaches } = memoryTexts.facts;
  return (
    <label>
      <span>{fields.scope}</span>
      <select value={scope} onChange={(event) => choose(event.currentTarget.value as Scope)}>
        {scopes.map((each) => (
          <option key={each} value={each}>
            {reaches[each]}
          </option>
        ))}
      </select>
    </label>
  );
}

export function ConnectionField({
  connection,
  choose,
}: {
  connection: string;
  choose: (connection: string) => void;
}) {
  return (
    <label>
      <span>{memoryTexts.facts.fields.connection}</span>
      <select value={connection} onChange={(event) => choose(event.currentTarget.value)}>
        {connections.value?.map((each) => (
          <option key={each.id} value={each.id}>
            {each.name}
          </option>
        ))}
      </select>
    </label>
  );
}
