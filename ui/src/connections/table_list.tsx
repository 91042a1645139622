import { ChevronRight, FileText, ListChecks } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { describeTable } from "../api/client";
import { asProblem } from "../api/problem";
import type { Table } from "../api/types";
import { draft } from "../conversation/draft";
import { investigates, knowCapabilities } from "../shared/capability";
import { Icon } from "../shared/icon";
import { fragment, go } from "../shared/route";
import { texts } from "../shared/texts";
import { count } from "../shared/time";
import { say } from "../shared/toasts";
import { connectionOf, rememberConnection } from "./connections";
import { ColumnList } from "./column_list";
import { SampleRows } from "./sample_rows";

interface Listed {
  connectionId: string;
  tables: Table[];
  mayChange: boolean;
}

interface Shown {
  connectionId: string;
  table: Table;
  mayChange: boolean;
}

/** Every table, searched by its own name and those of its columns. */
export function TableList({ connectionId, tables, mayChange }: Listed) {
  const [words, setWords] = useState(() => tables.find(isSought)?.name ?? "");
  const wanted = words.trim().toLowerCase();
  const found = tables.filter((table) => namesOf(table).some((name) => name.includes(wanted)));
  if (tables.length === 0) return <NoTables connectionId={connectionId} />;
  return (
    <div class="table-list">
      <input
        type="search"
        class="table-search"
        aria-label={texts.connections.search}
        placeholder={texts.connections.search}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      {found.length === 0 && <p class="quiet">{texts.connections.noneMatch}</p>}
      {found.map((table) => (
        <TableEntry key={table.name} connectionId={connectionId} table={table} mayChange={mayChange} />
      ))}
    </div>
  );
}

/** A database that was never scanned is scanned by its first question, which every user may ask. */
function NoTables({ connectionId }: { connectionId: string }) {
  if (connectionOf(connectionId)?.scanned_at) return <p class="quiet">{texts.connections.noTables}</p>;
  const ask = () => {
    rememberConnection(connectionId);
    go("/");
  };
  return (
    <p class="quiet">
      {texts.connections.firstQuestion}{" "}
      <button type="button" class="button small" onClick={ask}>
        {texts.connections.ask}
      </button>
    </p>
  );
}

function namesOf(table: Table): string[] {
  return [table.name, ...table.columns.map((each) => each.name)].map((name) => name.toLowerCase());
}

/** Whether the address names this table. */
const isSought = (table: Table) => encodeURIComponent(table.name) === fragment.value.id;

function TableEntry({ connectionId, table, mayChange }: Shown) {
  const [open, setOpen] = useState(() => isSought(table));
  const { rows, view } = texts.connections;
  return (
    <details class="table-entry" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon of={ChevronRight} size={15} />
        <strong>{table.name}</strong>
        {table.kind === "view" && <span class="dialect">{view}</span>}
        <span class="quiet">{table.row_count !== null && rows(count(table.row_count))}</span>
      </summary>
      {open && (
        <div class="table-body">
          <Description connectionId={connectionId} table={table} mayChange={mayChange} />
          <TableProposals connectionId={connectionId} name={table.name} />
          <ColumnList connectionId={connectionId} table={table} mayChange={mayChange} />
          <SampleRows connectionId={connectionId} table={table} />
        </div>
      )}
    </details>
  );
}

/** Questions about a table. They open the question box in a new session, which reads. */
function TableProposals({ connectionId, name }: { connectionId: string; name: string }) {
  useEffect(knowCapabilities, []);
  if (!investigates.value) return null;
  const { document, documentWords, check, checkWords, table } = texts.proposals;
  const propose = (words: string) => () => {
    const about = { kind: "table", id: `${connectionId}/${name}` } as const;
    draft.value = { words, about, label: table(name), place: { connectionId } };
    go("/");
  };
  return (
    <div class="table-proposals">
      <button type="button" class="button small" onClick={propose(documentWords(name))}>
        <Icon of={FileText} size={14} /> {document}
      </button>
      <button type="button" class="button small" onClick={propose(checkWords(name))}>
        <Icon of={ListChecks} size={14} /> {check}
      </button>
    </div>
  );
}

/** The description of a table; a click edits it. */
function Description({ connectionId, table, mayChange }: Shown) {
  const [text, setText] = useState(table.description);
  const [editing, setEditing] = useState(false);
  const { description, editDescription, noDescription, saved } = texts.connections;
  const save = async (event: Event) => {
    event.preventDefault();
    try {
      await describeTable(connectionId, table.name, text.trim());
      setEditing(false);
      say(saved);
    } catch (error) {
      say(asProblem(error).detail);
    }
  };
  if (!editing) {
    return (
      <p class="table-description">
        {text || <span class="quiet">{noDescription}</span>}{" "}
        {mayChange && (
          <button type="button" class="button small" onClick={() => setEditing(true)}>
            {editDescription}
          </button>
        )}
      </p>
    );
  }
  return (
    <form class="form inline" onSubmit={(event) => void save(event)}>
      <textarea
        ref={(field) => field?.focus()}
        rows={2}
        maxLength={2_000}
        aria-label={`${description}: ${table.name}`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="button small primary">
        {texts.save}
      </button>
    </form>
  );
}
