import { Download, Upload } from "lucide";
import { useRef, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { ImportedEntry, KnowledgeImported, Problem } from "../api/types";
import { connectionOf } from "../connections/connections";
import { Dialog } from "../shared/dialog";
import { download, fileName } from "../shared/files";
import { Icon } from "../shared/icon";
import { orSay } from "../shared/or_say";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { say } from "../shared/toasts";
import { exportKnowledge, type FileFormat, importKnowledge } from "./knowledge";
import { transferTexts as words } from "./texts";
import "./transfer.css";

interface Shown {
  connectionId: string;
  /** Only the owner imports. */
  mayChange: boolean;
  onImported: () => void;
}

const ENDINGS = { csv: "csv", markdown: "md" } as const;
const OUTCOMES = ["new", "changed", "same", "refused"] as const;

/** Exports all knowledge of a database to a file, and imports one after saying what that would do. */
export default function Transfer({ connectionId, mayChange, onImported }: Shown) {
  const [importing, setImporting] = useState(false);
  const save = async (format: FileFormat) => {
    const title = `${connectionOf(connectionId)?.name ?? ""} ${words.fileTitle}`;
    download(await exportKnowledge(connectionId, format), fileName(title, ENDINGS[format]));
  };
  return (
    <>
      {(["csv", "markdown"] as const).map((format) => (
        <button
          type="button"
          class="button small"
          key={format}
          title={words.exportLead}
          onClick={() => orSay(save(format))}
        >
          <Icon of={Download} size={14} /> {words.formats[format]}
        </button>
      ))}
      {mayChange && (
        <button type="button" class="button small" onClick={() => setImporting(true)}>
          <Icon of={Upload} size={14} /> {words.import}
        </button>
      )}
      {importing && (
        <Dialog title={words.title} onClose={() => setImporting(false)}>
          <ImportForm
            connectionId={connectionId}
            onImported={() => {
              setImporting(false);
              onImported();
            }}
          />
        </Dialog>
      )}
    </>
  );
}

interface Chosen {
  text: string;
  format: FileFormat;
}

function ImportForm({ connectionId, onImported }: { connectionId: string; onImported: () => void }) {
  const [chosen, choose] = useState<Chosen | null>(null);
  const [planned, setPlanned] = useState<KnowledgeImported | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const during = async (work: Promise<void>) => {
    setBusy(true);
    setProblem(null);
    await work.catch((error: unknown) => setProblem(asProblem(error)));
    setBusy(false);
  };
  const plan = async () => {
    const file = field.current?.files?.[0];
    setPlanned(null);
    choose(null);
    if (!file) return;
    const read: Chosen = { text: await file.text(), format: /\.csv$/i.test(file.name) ? "csv" : "markdown" };
    setPlanned(await importKnowledge(connectionId, { ...read, dry_run: true }));
    choose(read);
  };
  const store = async () => {
    if (!chosen) return;
    const done = await importKnowledge(connectionId, { ...chosen, dry_run: false });
    setPlanned(done);
    if (!done.stored) return;
    say(words.imported(done.new + done.changed));
    onImported();
  };
  const changes = planned ? planned.new + planned.changed : 0;
  return (
    <div class="form transfer">
      <p class="quiet">{words.lead}</p>
      <label>
        {words.file}
        <input
          ref={field}
          type="file"
          accept=".csv,.md,.markdown,text/csv,text/markdown"
          onChange={() => void during(plan())}
        />
      </label>
      {problem && <ProblemBox problem={problem} />}
      <div role="status">
        {busy && <p class="quiet">{texts.loading} …</p>}
        {planned && (
          <p>
            {words.counts(planned)}
            {planned.refused > 0 && ` ${words.nothingStored}`}
          </p>
        )}
      </div>
      {planned && <Entries entries={planned.entries} />}
      <button
        type="button"
        class="button primary"
        disabled={busy || changes === 0 || planned?.refused !== 0}
        onClick={() => void during(store())}
      >
        {words.store(changes)}
      </button>
    </div>
  );
}

/** Each entry with its line; the refused ones first. */
function Entries({ entries }: { entries: readonly ImportedEntry[] }) {
  const sorted = entries.toSorted((one, other) => rank(other) - rank(one));
  return (
    <div class="transfer-entries" tabIndex={0} role="region" aria-label={words.entries}>
      <table class="sample">
        <thead>
          <tr>
            {words.columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((each) => (
            <tr key={each.line}>
              <td class="numeric">{each.line}</td>
              <td>
                <span class={`entry-status ${each.outcome === "refused" ? "broken" : ""}`}>
                  {words.outcomes[each.outcome]}
                </span>
              </td>
              <td class="transfer-name">
                {each.name || "–"}
                {each.reason && <small>{each.reason}</small>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const rank = (entry: ImportedEntry) => OUTCOMES.indexOf(entry.outcome);
