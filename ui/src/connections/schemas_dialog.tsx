import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Connection, DatabaseSchema, Problem } from "../api/types";
import { busy } from "../shared/busy";
import { Dialog } from "../shared/dialog";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { say } from "../shared/toasts";
import { readSchemas } from "./connections_api";
import { choose, isRead, patternsOf } from "./schemas";
import { saveConnection } from "./save_connection";
import { SchemasField } from "./schemas_field";
import { connectionTexts, form } from "./texts";

interface Shown {
  connection: Connection;
  onClose: () => void;
  /** Other schemas are read from now on, and a scan of them has started. */
  onChanged: () => void;
}

/** The schemas of a database with their numbers of tables, to choose those that are read. */
export function SchemasDialog({ connection, onClose, onChanged }: Shown) {
  const [schemas, setSchemas] = useState<DatabaseSchema[] | null>(null);
  const [text, setText] = useState(connection.schemas.join(", "));
  const [saving, setSaving] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const patterns = patternsOf(text);
  const read = schemas?.filter((each) => isRead(each.name, patterns)) ?? [];
  useEffect(() => {
    readSchemas(connection.id).then(setSchemas, (error: unknown) => setProblem(asProblem(error)));
  }, []);
  const save = async () => {
    setSaving(true);
    setProblem(null);
    try {
      const saved = await saveConnection(connection, { schemas: patterns });
      if (saved) say(form.schemasRead);
      onClose();
      if (saved) onChanged();
    } catch (error) {
      setProblem(asProblem(error));
      setSaving(false);
    }
  };
  return (
    <Dialog title={form.schemasOf(connection.name)} onClose={onClose}>
      <div class="form">
        <SchemasField value={text} set={setText} />
        {!schemas && !problem && <p class="quiet">{texts.loading} …</p>}
        <ul class="schemas">
          {schemas?.map(({ name, table_count }) => {
            const checked = read.some((each) => each.name === name);
            return (
              <li key={name}>
                <label class="check">
                  <input
                    type="checkbox"
                    checked={checked}
                    disabled={checked && read.length === 1}
                    onChange={(event) =>
                      setText(choose(name, event.currentTarget.checked, patterns).join(", "))
                    }
                  />
                  <code>{name}</code>
                  <span class="quiet">
                    {table_count === null ? form.notRead : connectionTexts.tables(table_count)}
                  </span>
                </label>
              </li>
            );
          })}
        </ul>
        {problem && <ProblemBox problem={problem} />}
        <button type="button" class="button primary" disabled={!schemas} {...busy(saving, () => void save())}>
          {texts.save}
        </button>
      </div>
    </Dialog>
  );
}
