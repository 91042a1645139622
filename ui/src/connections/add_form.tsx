import { useState } from "preact/hooks";
import { addConnection } from "../api/client";
import { asProblem } from "../api/problem";
import type { Problem } from "../api/types";
import { ProblemBox } from "../shared/problem_box";
import { go } from "../shared/route";
import { addressOf, EMPTY, withoutSecrets } from "./address";
import { AddressFields } from "./address_fields";
import { refreshConnections, rememberConnection } from "./connections";
import { NameFields } from "./name_fields";
import { patternsOf } from "./schemas";
import { SchemasField } from "./schemas_field";
import { connectionTexts, form } from "./texts";
import { useUnsent } from "../identity/unsent";

/** A form for a new database: tests it, and opens it if it can be read. The page does not keep the URL. */
export function AddForm() {
  const [named, setNamed] = useUnsent("new connection names", { name: "", description: "" });
  const [parts, setParts] = useUnsent("new connection address", EMPTY, withoutSecrets);
  const [shared, setShared] = useUnsent("new connection shared", false);
  const [schemas, setSchemas] = useUnsent("new connection schemas", "");
  const [testing, setTesting] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    const url = addressOf(parts);
    if (url === null) return;
    setTesting(true);
    setProblem(null);
    try {
      const connection = await addConnection({ ...named, url, shared, schemas: patternsOf(schemas) });
      rememberConnection(connection.id);
      void refreshConnections();
      go(`/connections/${connection.id}`);
    } catch (error) {
      setProblem(asProblem(error));
      setTesting(false);
    }
  };
  return (
    <form class="form" onSubmit={(event) => void onSubmit(event)}>
      <NameFields named={named} set={(part) => setNamed({ ...named, ...part })} />
      <AddressFields parts={parts} set={(part) => setParts({ ...parts, ...part })} />
      {parts.engine !== "sqlite" && <SchemasField value={schemas} set={setSchemas} />}
      <label class="check">
        <input
          type="checkbox"
          checked={shared}
          onChange={(event) => setShared(event.currentTarget.checked)}
        />
        {connectionTexts.share}
      </label>
      {problem && <ProblemBox problem={{ ...problem, title: form.failed }} />}
      <button type="submit" class="button primary" disabled={testing}>
        {testing ? form.testing : form.connect}
      </button>
    </form>
  );
}
