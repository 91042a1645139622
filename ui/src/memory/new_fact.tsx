import { useEffect } from "preact/hooks";
import { keepFact } from "../api/client";
import type { Fact, NewFact } from "../api/types";
import { connections, refreshConnections, usualConnection } from "../connections/connections";
import { FactForm } from "./fact_form";
import { namesIn, sayKept } from "./facts";
import { KINDS } from "./turn";
import { ConnectionField, reachable, ScopeField, TextField } from "./place_fields";
import { memoryTexts } from "./texts";
import { knowledgeTexts } from "../knowledge/texts";
import { useUnsent } from "../identity/unsent";

interface Shown {
  /** The answer that the fact comes from. */
  from?: { sessionId: string; messageId: string; connectionId: string };
  text?: string;
  onChange?: () => void;
  onClose: () => void;
}

/** Asks what is to be remembered, and how far it reaches. */
export default function NewFactForm({
  from,
  text: proposed = "",
  onChange = () => undefined,
  onClose,
}: Shown) {
  const form = `new fact ${from?.messageId ?? ""}`;
  const [text, setText] = useUnsent(`${form} text`, proposed);
  const [kind, setKind] = useUnsent<Fact["kind"]>(`${form} kind`, "terminology");
  const [scope, setScope] = useUnsent<Fact["scope"]>(`${form} scope`, "workspace");
  const [chosen, choose] = useUnsent<string | null>(`${form} database`, null);
  const [about, setAbout] = useUnsent(`${form} about`, "");
  useEffect(() => {
    if (connections.value === null) void refreshConnections();
  }, []);
  const connection = chosen ?? from?.connectionId ?? usualConnection()?.id ?? "";
  const { remember, fields, kinds } = memoryTexts.facts;
  const body = (): Omit<NewFact, "confirm"> => ({
    text: text.trim(),
    kind,
    scope,
    about: namesIn(about),
    ...((scope !== "user" || about.trim()) && connection && { db_connection_id: connection }),
    ...(from && { session_id: from.sessionId, message_id: from.messageId }),
  });
  return (
    <FactForm
      title={remember}
      keep={(confirm) => keepFact({ ...body(), confirm })}
      onKept={(kept) => {
        sayKept(kept, { undo: kept.is_new ? "forget" : null, onChange });
        onChange();
      }}
      onChange={onChange}
      onClose={onClose}
    >
      <TextField text={text} change={setText} />
      <label>
        <span>{fields.kind}</span>
        <select value={kind} onChange={(event) => setKind(event.currentTarget.value as Fact["kind"])}>
          {KINDS.map((each) => (
            <option key={each} value={each}>
              {kinds[each]}
            </option>
          ))}
        </select>
      </label>
      <ScopeField
        scopes={reachable(connection).filter((each) => each !== "session" || from)}
        scope={scope}
        choose={setScope}
      />
      {scope !== "user" && !from && <ConnectionField connection={connection} choose={choose} />}
      <label>
        <span>
          {fields.about} <small>({knowledgeTexts.optional})</small>
        </span>
        <input value={about} onInput={(event) => setAbout(event.currentTarget.value)} />
      </label>
    </FactForm>
  );
}
