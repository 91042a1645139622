import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { changeFact } from "../api/client";
import type { Fact, FactChange } from "../api/types";
import { usualConnection } from "../connections/connections";
import { FactForm } from "./fact_form";
import { sayKept } from "./facts";
import { ConnectionField, reachable, ScopeField, TextField } from "./place_fields";
import { memoryTexts } from "./texts";
import { useUnsent } from "../identity/unsent";

interface Shown {
  fact: Fact;
  onChange: () => void;
  onClose: () => void;
}

/** Other words for a fact: they supersede it. */
export function EditForm(shown: Shown) {
  const [text, setText] = useUnsent(`fact ${shown.fact.id} text`, shown.fact.text);
  const { edit } = memoryTexts.facts;
  return (
    <ChangeForm {...shown} title={edit} change={{ text: text.trim() }}>
      <TextField text={text} change={setText} />
    </ChangeForm>
  );
}

/** Another scope for a fact. */
export function MoveForm(shown: Shown) {
  const { fact } = shown;
  const [chosen, choose] = useState<string | null>(null);
  const connection = fact.db_connection_id ?? chosen ?? usualConnection()?.id ?? "";
  const scopes = reachable(connection).filter(
    (each) => each !== fact.scope && (each !== "session" || fact.source.session_id !== null),
  );
  const [wanted, setWanted] = useState<Fact["scope"] | null>(null);
  const scope = wanted ?? scopes.at(fact.scope === "session" ? 1 : 0) ?? "user";
  const change = { scope, ...(scope !== "user" && { db_connection_id: connection }) };
  return (
    <ChangeForm {...shown} title={memoryTexts.facts.move} change={change}>
      <p class="memory-text">{fact.text}</p>
      <ScopeField scopes={scopes} scope={scope} choose={setWanted} />
      {scope !== "user" && fact.db_connection_id === null && (
        <ConnectionField connection={connection} choose={choose} />
      )}
    </ChangeForm>
  );
}

interface ShownChange extends Shown {
  title: string;
  change: FactChange;
  children: ComponentChildren;
}

function ChangeForm({ title, fact, change, onChange, onClose, children }: ShownChange) {
  return (
    <FactForm
      title={title}
      keep={(confirm) => changeFact(fact.id, change, confirm)}
      onKept={(kept) => {
        sayKept(kept, { undo: kept.is_new ? fact : null, onChange });
        onChange();
      }}
      onChange={onChange}
      onClose={onClose}
    >
      {children}
    </FactForm>
  );
}
