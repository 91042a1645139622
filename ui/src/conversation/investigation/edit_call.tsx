import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { readTools } from "../../api/client";
import { asProblem } from "../../api/problem";
import type { Problem } from "../../api/types";
import { orSay } from "../../shared/or_say";
import { ProblemBox } from "../../shared/problem_box";
import { texts } from "../../shared/texts";
import type { ToolCall } from "../model";
import { type ArgumentField, argumentsFrom, fieldsOf, NotJson } from "./argument_fields";
import { isStatement, toolName } from "./call_words";
import { confirmationTexts } from "./texts";
import { useUnsent } from "../../identity/unsent";

interface Shown {
  call: ToolCall;
  canApprove: boolean;
  onApprove: (edited: Record<string, unknown>) => Promise<void>;
  onClose: () => void;
}

/** The arguments of a call that waits, for a person to change before it is approved. The server checks them. */
export function EditCall({ call, canApprove, onApprove, onClose }: Shown) {
  const schema = useSchema(call.name);
  const fields = useMemo(() => schema && fieldsOf(call, schema.found), [call, schema]);
  const [typed, setTyped] = useUnsent<Record<string, string>>(`call ${call.id} arguments`, {});
  const [problem, setProblem] = useState<Pick<Problem, "title" | "detail"> | null>(null);
  const [sending, setSending] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const isReady = fields !== null;
  useEffect(() => {
    if (isReady) form.current?.querySelector<HTMLElement>("input, textarea, select, button")?.focus();
  }, [isReady]);
  const send = async (shown: ArgumentField[]) => {
    setProblem(null);
    setSending(true);
    try {
      await onApprove(argumentsFrom(shown, typed, call));
    } catch (error) {
      const refused = problemOf(error);
      if (refused === null) throw error;
      setProblem(refused);
    } finally {
      setSending(false);
    }
  };
  if (fields === null) return null;
  return (
    <form
      ref={form}
      class="form confirmation-edit"
      aria-label={confirmationTexts.editing(toolName(call))}
      onSubmit={(event) => {
        event.preventDefault();
        orSay(send(fields));
      }}
    >
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          isCode={field.kind === "json" || (field.name === "sql" && isStatement(call))}
          text={typed[field.name] ?? field.before}
          onType={(text) => setTyped({ ...typed, [field.name]: text })}
        />
      ))}
      {problem && <ProblemBox problem={problem} />}
      <div class="confirmation-decision">
        <button type="submit" class="button small primary" disabled={sending || !canApprove}>
          {confirmationTexts.approveEdited}
        </button>
        <button type="button" class="button small" onClick={onClose}>
          {texts.cancel}
        </button>
      </div>
    </form>
  );
}

interface FieldShown {
  field: ArgumentField;
  isCode: boolean;
  text: string;
  onType: (text: string) => void;
}

function Field({ field: { name, kind, choices, optional, before }, isCode, text, onType }: FieldShown) {
  const onInput = (event: { currentTarget: { value: string } }) => onType(event.currentTarget.value);
  if (kind === "switch")
    return (
      <label class="check">
        <input
          type="checkbox"
          role="switch"
          checked={text === "true"}
          onInput={(event) => onType(String(event.currentTarget.checked))}
        />
        {name}
      </label>
    );
  const rows = isCode || before.length > ONE_LINE || before.includes("\n");
  return (
    <label>
      <span>
        {name} {optional && <small>({confirmationTexts.optional})</small>}
      </span>
      {kind === "choice" ? (
        <select value={text} onInput={onInput}>
          {optional && <option value="" />}
          {choices.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      ) : rows ? (
        <textarea rows={isCode ? 6 : 3} class={isCode ? "code" : undefined} value={text} onInput={onInput} />
      ) : kind === "number" ? (
        <input type="number" step="any" value={text} onInput={onInput} />
      ) : (
        <input value={text} onInput={onInput} />
      )}
    </label>
  );
}

const ONE_LINE = 40;

/** What the form can mend; null for anything else. */
function problemOf(error: unknown): Pick<Problem, "title" | "detail"> | null {
  if (error instanceof NotJson)
    return { title: confirmationTexts.refused, detail: confirmationTexts.notJson(error.message) };
  const problem = asProblem(error);
  return problem.type === "urn:kai:edit-refused" ? problem : null;
}

/** The schema of a tool's arguments; null until it is read, and `found` null if it cannot be. */
function useSchema(name: string): { found: Record<string, unknown> | null } | null {
  const [schema, setSchema] = useState<{ found: Record<string, unknown> | null } | null>(null);
  useEffect(() => {
    readTools().then(
      ({ items }) => setSchema({ found: items.find((each) => each.name === name)?.arguments ?? null }),
      () => setSchema({ found: null }),
    );
  }, [name]);
  return schema;
}
