import { Upload } from "lucide";
import { useRef, useState } from "preact/hooks";
import { importFacts } from "../api/client";
import { asProblem } from "../api/problem";
import type { FactImport, ImportedFacts, Problem } from "../api/types";
import { usualConnection } from "../connections/connections";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/icon";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { KINDS } from "./turn";
import { ConnectionField, reachable, ScopeField } from "./place_fields";
import { memoryTexts } from "./texts";

/** Imports the facts of an export, or the items of Markdown lists, from a file. */
export function ImportFacts({ onChange }: { onChange: () => void }) {
  const [asking, ask] = useState(false);
  return (
    <>
      <button type="button" class="button small" onClick={() => ask(true)}>
        <Icon of={Upload} size={14} /> {memoryTexts.facts.import.button}
      </button>
      {asking && <ImportForm onChange={onChange} onClose={() => ask(false)} />}
    </>
  );
}

function ImportForm({ onChange, onClose }: { onChange: () => void; onClose: () => void }) {
  const [kind, setKind] = useState<(typeof KINDS)[number]>("preference");
  const [scope, setScope] = useState<FactImport["scope"]>("user");
  const [connection, choose] = useState(usualConnection()?.id ?? "");
  const [imported, setImported] = useState<ImportedFacts | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const chosen = useRef<HTMLInputElement>(null);
  const { import: words, kinds } = memoryTexts.facts;
  const send = async (confirm: boolean) => {
    const file = chosen.current?.files?.[0];
    if (!file) return;
    setProblem(null);
    try {
      const place = { kind, scope, confirm, ...(connection && { db_connection_id: connection }) };
      setImported(await importFacts({ ...place, ...contentOf(await file.text()) }));
      onChange();
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    void send(false);
  };
  return (
    <Dialog title={words.title} onClose={onClose}>
      <form class="form" onSubmit={onSubmit}>
        <p class="quiet">{words.lead}</p>
        <label>
          <span>{words.file}</span>
          <input ref={chosen} type="file" required accept=".json,.md,.markdown,.txt" />
        </label>
        <label>
          <span>{words.kind}</span>
          <select value={kind} onChange={(event) => setKind(event.currentTarget.value as typeof kind)}>
            {KINDS.map((each) => (
              <option key={each} value={each}>
                {kinds[each]}
              </option>
            ))}
          </select>
        </label>
        <ScopeField
          scopes={reachable(connection).filter((each) => each !== "session")}
          scope={scope}
          choose={setScope}
        />
        {connection && <ConnectionField connection={connection} choose={choose} />}
        {problem && <ProblemBox problem={problem} />}
        {imported && <Outcome imported={imported} again={() => void send(true)} />}
        <div class="problem-actions">
          <button type="submit" class="button primary">
            {words.button}
          </button>
          <button type="button" class="button" onClick={onClose}>
            {texts.close}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** What became of the facts. A person may keep those that a guard has only warned of. */
function Outcome({ imported, again }: { imported: ImportedFacts; again: () => void }) {
  const { import: words, allTheSame } = memoryTexts.facts;
  const { kept, known, left_out: leftOut, refused } = imported;
  return (
    <ProblemBox problem={{ title: words.outcome(kept, known + leftOut), detail: "" }} tone="notice">
      {refused.length > 0 && (
        <>
          <ul class="forgotten">
            {refused.map((each) => (
              <li key={each.number}>{words.refused(each.number, each.reason)}</li>
            ))}
          </ul>
          <button type="button" class="button small" onClick={again}>
            {allTheSame}
          </button>
        </>
      )}
    </ProblemBox>
  );
}

/** The facts of an export if the text is one, else Markdown. */
function contentOf(text: string): Pick<FactImport, "facts" | "markdown"> {
  try {
    const parsed = JSON.parse(text) as Partial<Pick<FactImport, "facts">> | FactImport["facts"];
    const facts = Array.isArray(parsed) ? parsed : parsed.facts;
    if (Array.isArray(facts)) return { facts, markdown: "" };
  } catch {
    // not JSON
  }
  return { facts: [], markdown: text };
}
