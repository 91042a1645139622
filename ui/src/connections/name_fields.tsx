import { connectionTexts, form } from "./texts";

export interface Named {
  name: string;
  description: string;
}

/** The name and the description of a database, for users. */
export function NameFields({ named, set }: { named: Named; set: (part: Partial<Named>) => void }) {
  return (
    <>
      <label>
        {connectionTexts.name}
        <input
          required
          maxLength={200}
          value={named.name}
          onInput={(event) => set({ name: event.currentTarget.value })}
        />
      </label>
      <label>
        {connectionTexts.description}
        <textarea
          rows={2}
          maxLength={2_000}
          aria-describedby="description-hint"
          value={named.description}
          onInput={(event) => set({ description: event.currentTarget.value })}
        />
        <small id="description-hint">{form.descriptionHint}</small>
      </label>
    </>
  );
}
