import { useState } from "preact/hooks";
import { editColumn } from "../api/client";
import type { Table, TableColumn } from "../api/types";
import { Dialog } from "../shared/dialog";
import { orSay } from "../shared/or_say";
import { texts } from "../shared/texts";
import { connectionTexts } from "./texts";
import { useUnsent } from "../identity/unsent";

interface Shown {
  connectionId: string;
  table: Table;
  column: TableColumn;
  onSaved: (table: Table) => void;
  onClose: () => void;
}

/** What the owner writes of a column: its description, its unit, and whether KAI may read it. */
export default function ColumnForm({ connectionId, table, column, onSaved, onClose }: Shown) {
  const form = `column ${connectionId} ${table.name} ${column.name}`;
  const [description, setDescription] = useUnsent(`${form} description`, column.description);
  const [unit, setUnit] = useUnsent(`${form} unit`, column.unit);
  const [hidden, setHidden] = useUnsent(`${form} hidden`, column.hidden);
  const [saving, setSaving] = useState(false);
  const words = connectionTexts;
  const save = (event: Event) => {
    event.preventDefault();
    setSaving(true);
    const edit = { description: description.trim(), unit: unit.trim(), hidden };
    const saved = editColumn(connectionId, table.name, column.name, edit).then((changed) => {
      onSaved(changed);
      onClose();
    });
    orSay(saved.finally(() => setSaving(false)));
  };
  return (
    <Dialog title={words.columnOf(table.name, column.name)} onClose={onClose}>
      <form class="form" onSubmit={save}>
        <label>
          {words.description}
          <textarea
            rows={2}
            maxLength={2_000}
            value={description}
            onInput={(event) => setDescription(event.currentTarget.value)}
          />
        </label>
        <label>
          {words.unit}
          <input maxLength={40} value={unit} onInput={(event) => setUnit(event.currentTarget.value)} />
          <small>{words.unitHint}</small>
        </label>
        <label class="check">
          <span>
            <input
              type="checkbox"
              checked={hidden}
              onChange={(event) => setHidden(event.currentTarget.checked)}
            />{" "}
            {words.hide}
          </span>
          <small>{words.hideHint}</small>
        </label>
        <button type="submit" class="button primary" disabled={saving}>
          {texts.save}
        </button>
      </form>
    </Dialog>
  );
}
