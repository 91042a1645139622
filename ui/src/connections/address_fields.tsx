import { useId, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { CheckedDatabase, Connection, Problem } from "../api/types";
import { busy } from "../shared/busy";
import { ProblemBox } from "../shared/problem_box";
import { addressOf, type Engine, ENGINES, isFile, type Parts, partsOf } from "./address";
import { testConnection } from "./connections_api";
import { form } from "./texts";

const PORTS: Partial<Record<Engine, string>> = { postgresql: "5432", mysql: "3306" };

interface Shown {
  parts: Parts;
  set: (part: Partial<Parts>) => void;
  /** The connection whose address they change: what it keeps may stay empty. */
  of?: Connection;
}

/** The fields for the address of a database, by its kind, and a test of it. */
export function AddressFields({ parts, set, of }: Shown) {
  const address = addressOf(parts);
  const engines = of ? new Set([partsOf(of).engine, "address" as const]) : ENGINES;
  return (
    <>
      <label>
        {form.engine}
        <select
          value={parts.engine}
          onChange={(event) => set({ engine: event.currentTarget.value as Engine })}
        >
          {[...engines].map((each) => (
            <option key={each} value={each}>
              {form.engines[each]}
            </option>
          ))}
        </select>
      </label>
      <FieldsOf parts={parts} set={set} {...(of && { of })} />
      <Test key={address} address={address} {...(of && { connectionId: of.id })} />
    </>
  );
}

function FieldsOf({ parts, set, of }: Shown) {
  if (parts.engine === "address") {
    const hint = of ? `${form.addressKept} ${form.addressHint}` : form.addressHint;
    return <Field part="address" hint={hint} code required={!of} parts={parts} set={set} />;
  }
  if (isFile(parts.engine)) {
    const hint = of ? form.pathKept(of.masked_url) : form.pathHint;
    return <Field part="path" hint={hint} code required={!of} parts={parts} set={set} />;
  }
  const hint = of ? form.passwordKept : form.passwordHint;
  return (
    <>
      <div class="host-and-port">
        <Field part="host" required parts={parts} set={set} />
        <Field part="port" placeholder={PORTS[parts.engine]} parts={parts} set={set} />
      </div>
      <Field part="database" required parts={parts} set={set} />
      <Field part="user" required parts={parts} set={set} />
      <Field part="password" hint={hint} parts={parts} set={set} />
    </>
  );
}

interface OneField extends Omit<Shown, "of"> {
  part: Exclude<keyof Parts, "engine">;
  hint?: string;
  placeholder?: string | undefined;
  code?: boolean;
  required?: boolean;
}

function Field({ part, hint, placeholder, code, required, parts, set }: OneField) {
  const id = useId();
  const kind =
    part === "password"
      ? { type: "password" as const }
      : {
          type: "text" as const,
          ...(part === "port" && { inputMode: "numeric" as const, pattern: "[0-9]{1,5}" }),
        };
  return (
    <label>
      {form[part]}
      <input
        {...kind}
        class={code ? "code" : undefined}
        required={required}
        maxLength={2_000}
        placeholder={placeholder}
        autocomplete={part === "password" ? "new-password" : "off"}
        autocapitalize="none"
        spellcheck={false}
        aria-describedby={hint && id}
        value={parts[part]}
        onInput={(event) => set({ [part]: event.currentTarget.value })}
      />
      {hint && <small id={id}>{hint}</small>}
    </label>
  );
}

/** Opens the database at the address without keeping it. Another address makes another test. */
function Test({ address, connectionId }: { address: string | null; connectionId?: string }) {
  const [testing, setTesting] = useState(false);
  const [opened, setOpened] = useState<CheckedDatabase | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const test = async () => {
    if (address === null) return;
    setTesting(true);
    setProblem(null);
    try {
      setOpened(await testConnection(address, connectionId));
    } catch (error) {
      setProblem(asProblem(error));
    }
    setTesting(false);
  };
  return (
    <div class="connection-test">
      <button type="button" class="button" disabled={address === null} {...busy(testing, () => void test())}>
        {testing ? form.testing : form.test}
      </button>
      <div role="status">
        {opened && <p class="works">{form.works(opened.masked_url)}</p>}
        {opened?.warnings.map((warning) => (
          <p class="warning" key={warning}>
            {warning}
          </p>
        ))}
      </div>
      {problem && <ProblemBox problem={{ ...problem, title: form.failed }} />}
    </div>
  );
}
