import { FileText, ListChecks, Waypoints } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { describeTable } from "../api/client";
import { asProblem } from "../api/problem";
import type { Table } from "../api/types";
import { draft } from "../conversation/draft";
import { investigates, knowCapabilities } from "../shared/capability";
import { Icon } from "../shared/icon";
import { lazy } from "../shared/lazy";
import { fragment, go, onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { count } from "../shared/time";
import { say } from "../shared/toasts";
import { connectionOf, rememberConnection } from "./connections";
import { ColumnList } from "./column_list";
import { relationTexts } from "./relation_texts";
import { SampleRows } from "./sample_rows";
import { connectionTexts } from "./texts";
import { useUnsent } from "../identity/unsent";

const RelationsPicture = lazy(
  () => import("./relations_picture"),
  () => <div class="relations-place" />,
);

interface Listed {
  connectionId: string;
  tables: Table[];
  mayChange: boolean;
  onChanged: (table: Table) => void;
}

interface Shown {
  connectionId: string;
  table: Table;
  mayChange: boolean;
  onChanged: (table: Table) => void;
}

/** The tables in one pane; in the other the one that the address names, or how they refer to each other. */
export function TableList({ connectionId, tables, mayChange, onChanged }: Listed) {
  const pane = useRef<HTMLElement>(null);
  const { id, arrival } = fragment.value;
  const only = tables.length === 1 ? tables[0] : undefined;
  const chosen = tables.find((table) => encodeURIComponent(table.name) === id) ?? only;
  useEffect(() => {
    const list = pane.current?.previousElementSibling;
    if (!id || !chosen || !pane.current || !list) return;
    const isBelow = list.getBoundingClientRect().bottom <= pane.current.getBoundingClientRect().top;
    if (isBelow) pane.current.scrollIntoView();
  }, [id, arrival]);
  if (tables.length === 0) return <NoTables connectionId={connectionId} />;
  const place = `/connections/${encodeURIComponent(connectionId)}`;
  return (
    <div class="table-list">
      <Names place={place} tables={tables} chosen={chosen} />
      <section ref={pane} class="table-pane" aria-label={chosen?.name ?? relationTexts.title}>
        {chosen ? (
          <TableEntry
            key={chosen.name}
            connectionId={connectionId}
            table={chosen}
            mayChange={mayChange}
            onChanged={onChanged}
          />
        ) : (
          <RelationsPicture place={place} tables={tables} />
        )}
      </section>
    </div>
  );
}

interface Named {
  place: string;
  tables: Table[];
  chosen: Table | undefined;
}

/** Every table, searched by its own name and those of its columns. Arrow keys go from one to the next. */
function Names({ place, tables, chosen }: Named) {
  const [words, setWords] = useState("");
  const list = useRef<HTMLElement>(null);
  const wanted = words.trim().toLowerCase();
  const found = tables.filter((table) => namesOf(table).some((name) => name.includes(wanted)));
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const stops = [...(list.current?.querySelectorAll<HTMLElement>("input, a") ?? [])];
    const next = stops[stops.indexOf(event.target as HTMLElement) + by];
    if (by === 0 || !next) return;
    event.preventDefault();
    next.focus();
  };
  useEffect(() => {
    const entry = list.current?.querySelector<HTMLElement>("[aria-current]");
    const entries = entry?.closest("ul");
    if (!entry || !entries) return;
    const hidden = entry.offsetTop + entry.offsetHeight - entries.clientHeight;
    if (hidden > entries.scrollTop || entry.offsetTop < entries.scrollTop) entries.scrollTop = hidden;
  }, [chosen?.name]);
  return (
    <nav ref={list} class="table-names" aria-label={connectionTexts.schema} onKeyDown={onKeyDown}>
      <input
        type="search"
        class="table-search"
        aria-label={connectionTexts.search}
        placeholder={connectionTexts.search}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      {tables.length > 1 && (
        <a class="table-link" href={place} aria-current={chosen ? undefined : "true"} onClick={onLinkClick}>
          <Icon of={Waypoints} size={15} /> {relationTexts.title}
        </a>
      )}
      {found.length === 0 && <p class="quiet">{connectionTexts.noneMatch}</p>}
      <ul>
        {found.map((table) => (
          <li key={table.name}>
            <a
              class="table-link"
              href={`${place}#${encodeURIComponent(table.name)}`}
              aria-current={table === chosen ? "true" : undefined}
              onClick={onLinkClick}
            >
              <strong>{table.name}</strong>
              {table.row_count !== null && <span class="quiet">{count(table.row_count)}</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** A database that was never scanned is scanned by its first question, which every user may ask. */
function NoTables({ connectionId }: { connectionId: string }) {
  if (connectionOf(connectionId)?.scanned_at) return <p class="quiet">{connectionTexts.noTables}</p>;
  const ask = () => {
    rememberConnection(connectionId);
    go("/");
  };
  return (
    <p class="quiet">
      {connectionTexts.firstQuestion}{" "}
      <button type="button" class="button small" onClick={ask}>
        {connectionTexts.ask}
      </button>
    </p>
  );
}

function namesOf(table: Table): string[] {
  return [table.name, ...table.columns.map((each) => each.name)].map((name) => name.toLowerCase());
}

function TableEntry({ connectionId, table, mayChange, onChanged }: Shown) {
  const { rows, view } = connectionTexts;
  return (
    <>
      <header class="table-head">
        <h2>{table.name}</h2>
        {table.kind === "view" && <span class="dialect">{view}</span>}
        {table.row_count !== null && <span class="quiet">{rows(count(table.row_count))}</span>}
      </header>
      <Description {...{ connectionId, table, mayChange, onChanged }} />
      <TableProposals connectionId={connectionId} name={table.name} />
      <ColumnList {...{ connectionId, table, mayChange, onChanged }} />
      <SampleRows connectionId={connectionId} table={table} />
    </>
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
function Description({ connectionId, table, mayChange, onChanged }: Shown) {
  const form = `table ${connectionId} ${table.name}`;
  const [text, setText] = useUnsent(`${form} text`, table.description);
  const [editing, setEditing] = useUnsent(form, false);
  const { description, editDescription, noDescription, saved } = connectionTexts;
  const edit = () => {
    setText(table.description);
    setEditing(true);
  };
  const save = async (event: Event) => {
    event.preventDefault();
    try {
      onChanged(await describeTable(connectionId, table.name, text.trim()));
      setEditing(false);
      say(saved);
    } catch (error) {
      say(asProblem(error).detail);
    }
  };
  if (!editing) {
    return (
      <p class="table-description">
        {table.description || <span class="quiet">{noDescription}</span>}{" "}
        {mayChange && (
          <button type="button" class="button small" onClick={edit}>
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
