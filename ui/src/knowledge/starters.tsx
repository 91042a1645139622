import { Sparkles } from "lucide";
import { useState } from "preact/hooks";
import { connectionOf, refreshConnections } from "../connections/connections";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/icon";
import { orSay } from "../shared/or_say";
import { texts } from "../shared/texts";
import { say } from "../shared/toasts";
import { changeStarters } from "./knowledge";
import { starterTexts as words } from "./texts";
import { useUnsent } from "../identity/unsent";

const MOST = 8;

/** The questions that the start page proposes for a database, written by its owner. */
export default function Starters({ connectionId }: { connectionId: string }) {
  const [editing, setEditing] = useUnsent(`starters ${connectionId}`, false);
  return (
    <>
      <button type="button" class="button small" onClick={() => setEditing(true)}>
        <Icon of={Sparkles} size={14} /> {words.title}
      </button>
      {editing && (
        <Dialog title={words.title} onClose={() => setEditing(false)}>
          <StartersForm connectionId={connectionId} onSaved={() => setEditing(false)} />
        </Dialog>
      )}
    </>
  );
}

function StartersForm({ connectionId, onSaved }: { connectionId: string; onSaved: () => void }) {
  const [text, setText] = useUnsent(
    `starters ${connectionId} text`,
    (connectionOf(connectionId)?.starters ?? []).join("\n"),
  );
  const [saving, setSaving] = useState(false);
  const questions = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const save = async () => {
    await changeStarters(connectionId, questions);
    await refreshConnections();
    say(words.saved);
    onSaved();
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    setSaving(true);
    orSay(save().finally(() => setSaving(false)));
  };
  return (
    <form class="form" onSubmit={onSubmit}>
      <label>
        {words.questions}
        <textarea
          rows={8}
          aria-describedby="starters-hint"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <small id="starters-hint">{words.hint(questions.length, MOST)}</small>
      </label>
      <button type="submit" class="button primary" disabled={saving || questions.length > MOST}>
        {texts.save}
      </button>
    </form>
  );
}
