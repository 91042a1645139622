import { useState } from "preact/hooks";
import { addConnection } from "../api/client";
import { asProblem } from "../api/problem";
import type { Problem } from "../api/types";
import { ProblemBox } from "../shared/problem_box";
import { go } from "../shared/route";
import { texts } from "../shared/texts";
import { refreshConnections, rememberConnection } from "./connections";

const EMPTY = { name: "", url: "", description: "", shared: false };

/** A form for a new database: tests it, and opens it if it can be read. The page does not keep the URL. */
export function AddForm() {
  const [body, setBody] = useState(EMPTY);
  const [testing, setTesting] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const set = (part: Partial<typeof EMPTY>) => setBody({ ...body, ...part });
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    setTesting(true);
    setProblem(null);
    try {
      const connection = await addConnection(body);
      rememberConnection(connection.id);
      void refreshConnections();
      go(`/connections/${connection.id}`);
    } catch (error) {
      setProblem(asProblem(error));
      setTesting(false);
    }
  };
  const { connections } = texts;
  return (
    <form class="form" onSubmit={(event) => void onSubmit(event)}>
      <label>
        {connections.name}
        <input
          required
          maxLength={200}
          value={body.name}
          onInput={(event) => set({ name: event.currentTarget.value })}
        />
      </label>
      <label>
        {connections.url}
        <input
          required
          class="code"
          maxLength={2_000}
          autocomplete="off"
          spellcheck={false}
          aria-describedby="url-hint"
          value={body.url}
          onInput={(event) => set({ url: event.currentTarget.value })}
        />
        <small id="url-hint">{connections.urlHint}</small>
      </label>
      <label>
        {connections.description}
        <textarea
          rows={2}
          maxLength={2_000}
          aria-describedby="description-hint"
          value={body.description}
          onInput={(event) => set({ description: event.currentTarget.value })}
        />
        <small id="description-hint">{connections.descriptionHint}</small>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={body.shared}
          onChange={(event) => set({ shared: event.currentTarget.checked })}
        />
        {connections.share}
      </label>
      {problem && <ProblemBox problem={{ ...problem, title: connections.failed }} />}
      <button type="submit" class="button primary" disabled={testing}>
        {testing ? connections.testing : connections.test}
      </button>
    </form>
  );
}
