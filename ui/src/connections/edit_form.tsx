import { useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Connection, Problem } from "../api/types";
import { Dialog } from "../shared/dialog";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { say } from "../shared/toasts";
import { addressOf, partsOf } from "./address";
import { AddressFields } from "./address_fields";
import { boundsChange, BoundsFields, boundsOf, estimatesRows } from "./bounds_fields";
import { saveConnection } from "./save_connection";
import { NameFields } from "./name_fields";
import { form } from "./texts";
import { useUnsent } from "../identity/unsent";

interface Shown {
  connection: Connection;
  onClose: () => void;
  /** The address is another one now, and its schema is being read. */
  onMoved: () => void;
}

/** A form for the name, the description, the address and the bounds of a database. A new address is tested first. */
export function EditForm({ connection, onClose, onMoved }: Shown) {
  const [named, setNamed] = useUnsent(`connection ${connection.id} names`, {
    name: connection.name,
    description: connection.description,
  });
  const [parts, setParts] = useState(() => partsOf(connection));
  const [bounds, setBounds] = useState(() => boundsOf(connection));
  const [saving, setSaving] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    const url = addressOf(parts);
    const moved = url !== null && url !== addressOf(partsOf(connection));
    setSaving(true);
    setProblem(null);
    try {
      const change = { ...named, ...(moved && { url }), ...boundsChange(bounds, connection) };
      const saved = await saveConnection(connection, change);
      if (saved) say(moved ? form.readAgain : form.saved);
      onClose();
      if (saved && moved) onMoved();
    } catch (error) {
      setProblem(asProblem(error));
      setSaving(false);
    }
  };
  return (
    <Dialog title={form.editOf(connection.name)} onClose={onClose}>
      <form class="form" onSubmit={(event) => void onSubmit(event)}>
        <NameFields named={named} set={(part) => setNamed({ ...named, ...part })} />
        {connection.file_name === null ? (
          <AddressFields parts={parts} set={(part) => setParts({ ...parts, ...part })} of={connection} />
        ) : (
          <p class="quiet">{form.upload(connection.file_name)}</p>
        )}
        {estimatesRows(connection) && (
          <BoundsFields bounds={bounds} set={(part) => setBounds({ ...bounds, ...part })} />
        )}
        {problem && <ProblemBox problem={problem} />}
        <button type="submit" class="button primary" disabled={saving}>
          {saving ? form.testing : texts.save}
        </button>
      </form>
    </Dialog>
  );
}
