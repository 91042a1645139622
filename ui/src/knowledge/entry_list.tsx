import { Plus } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Problem } from "../api/types";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/icon";
import { saveEdit } from "../shared/edits";
import { lazy } from "../shared/lazy";
import { ProblemBox } from "../shared/problem_box";
import { say } from "../shared/toasts";
import { EntryCard } from "./entry_card";
import { EntryForm } from "./entry_form";
import {
  addEntry,
  CHANGED_GLOSSARY,
  changeEntry,
  type Entry,
  type Field,
  FIELDS,
  type Kind,
  readEntries,
  removeEntry,
} from "./knowledge";
import { knowledgeTexts } from "./texts";
import { useUnsent } from "../identity/unsent";
import "./knowledge.css";

const Starters = lazy(() => import("./starters"));
const Transfer = lazy(() => import("./transfer"));
const ReviewQueue = lazy(() => import("./review_queue"));

type Fields = Partial<Record<Field, string | null>>;

interface Shown {
  kind: Kind;
  connectionId: string;
  mayChange: boolean;
}

/** The entries of one kind. Users who may change them can add, edit, review and delete. */
export function EntryList({ kind, connectionId, mayChange }: Shown) {
  const { entries, problem, read, act } = useEntries(kind, connectionId);
  const [edited, edit] = useUnsent<Entry | "new" | null>(`${kind} ${connectionId}`, null);
  const save = async (fields: Fields) => {
    if (edited === null) return;
    const saved = edited === "new" ? addEntry(kind, connectionId, fields) : saveEntry(edited, fields);
    if (await act(saved)) edit(null);
  };
  const saveEntry = ({ id, version }: Entry, fields: Fields) =>
    saveEdit({
      version,
      send: (version) => changeEntry(kind, id, fields, version),
      read: async () => (await readEntries(kind, connectionId)).find((each) => each.id === id),
      beside: (theirs) =>
        FIELDS[kind].map(({ name }) => ({
          name: knowledgeTexts.fields[name],
          mine: fields[name] ?? "",
          theirs: theirs[name] ?? "",
        })),
    });
  return (
    <section class="entries">
      <header>
        <p class="quiet">{knowledgeTexts.leads[kind]}</p>
        <div class="entries-actions">
          <Transfer connectionId={connectionId} mayChange={mayChange} onImported={read} />
          {mayChange && kind === "examples" && <Starters connectionId={connectionId} />}
          {mayChange && (
            <button type="button" class="button small" onClick={() => edit("new")}>
              <Icon of={Plus} size={14} /> {knowledgeTexts.add}
            </button>
          )}
        </div>
      </header>
      {problem && <ProblemBox problem={problem} />}
      {mayChange && kind === "examples" && <ReviewQueue connectionId={connectionId} onReviewed={read} />}
      {entries?.length === 0 && <p class="quiet">{knowledgeTexts.none[kind]}</p>}
      {entries?.filter(isReviewed).map((each) => (
        <EntryCard
          key={each.id}
          kind={kind}
          entry={each}
          mayChange={mayChange}
          onEdit={() => edit(each)}
          onRemove={() => void act(removeEntry(kind, each.id))}
        />
      ))}
      {edited && (
        <Dialog
          title={edited === "new" ? knowledgeTexts.addOf[kind] : knowledgeTexts.editOf[kind]}
          onClose={() => edit(null)}
        >
          <EntryForm
            kind={kind}
            form={`${kind} ${connectionId} ${idOf(edited)}`}
            entry={edited === "new" ? null : edited}
            onSave={(fields) => void save(fields)}
          />
        </Dialog>
      )}
    </section>
  );
}

/** Proposals are in the queue above the list. */
const isReviewed = (entry: Entry) => entry.status !== "proposed";

const idOf = (edited: Entry | "new" | null) => (edited === null || edited === "new" ? "" : edited.id);

function tellTabs(): void {
  const channel = new BroadcastChannel(CHANGED_GLOSSARY);
  channel.postMessage(null);
  channel.close();
}

/** The entries, and a function that changes them and reads them again. Shows an error. */
function useEntries(kind: Kind, connectionId: string) {
  const [entries, setEntries] = useState<Entry[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const read = () =>
    readEntries(kind, connectionId).then(setEntries, (error: unknown) => setProblem(asProblem(error)));
  useEffect(() => void read(), []);
  const act = async (done: Promise<unknown>): Promise<boolean> => {
    try {
      await done;
    } catch (error) {
      say(asProblem(error).detail);
      return false;
    }
    if (kind === "glossary") tellTabs();
    await read();
    return true;
  };
  return { entries, problem, read: () => void read(), act };
}
