import { texts } from "../shared/texts";
import { type Entry, type Field, FIELDS, type Kind } from "./knowledge";
import { knowledgeTexts } from "./texts";
import { useUnsent } from "../identity/unsent";

interface Shown {
  kind: Kind;
  /** Name of the form, for what is not sent yet. */
  form: string;
  entry: Entry | null;
  onSave: (fields: Partial<Record<Field, string | null>>) => void;
}

/** The fields of an entry; an optional one left empty is sent as null. */
export function EntryForm({ kind, form, entry, onSave }: Shown) {
  const [values, setValues] = useUnsent<Partial<Record<Field, string>>>(form, {});
  const valueOf = (name: Field) => values[name] ?? entry?.[name] ?? "";
  const onSubmit = (event: Event) => {
    event.preventDefault();
    onSave(Object.fromEntries(FIELDS[kind].map(({ name }) => [name, valueOf(name).trim() || null])));
  };
  return (
    <form class="form" onSubmit={onSubmit}>
      {FIELDS[kind].map(({ name, optional, code, line }) => (
        <label key={name}>
          <span>
            {knowledgeTexts.fields[name]} {optional && <small>({knowledgeTexts.optional})</small>}
          </span>
          {line ? (
            <input
              required={!optional}
              value={valueOf(name)}
              onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          ) : (
            <textarea
              rows={code ? 6 : 2}
              class={code && "code"}
              required={!optional}
              value={valueOf(name)}
              onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          )}
        </label>
      ))}
      <button type="submit" class="button primary">
        {texts.save}
      </button>
    </form>
  );
}
