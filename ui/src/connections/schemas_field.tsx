import { useId } from "preact/hooks";
import { form } from "./texts";

/** Patterns of the schemas to read, separated by commas. */
export function SchemasField({ value, set }: { value: string; set: (value: string) => void }) {
  const id = useId();
  return (
    <label>
      {form.schemas}
      <input
        class="code"
        value={value}
        placeholder={form.allSchemas}
        aria-describedby={id}
        onInput={(event) => set(event.currentTarget.value)}
      />
      <small id={id}>{form.schemasHint}</small>
    </label>
  );
}
