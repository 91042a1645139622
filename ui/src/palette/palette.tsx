import { useEffect, useId, useRef, useState } from "preact/hooks";
import * as api from "../api/client";
import { allTables, connectionOf, connections, usualConnection } from "../connections/connections";
import { me } from "../identity/me";
import { readEntries } from "../knowledge/knowledge";
import { go } from "../shared/route";
import { texts } from "../shared/texts";
import { nextTheme } from "../shared/theme";
import "./palette.css";

type Kind = keyof typeof texts.sessions.paletteKinds;

interface Place {
  kind: Kind;
  key: string;
  label: string;
  about?: string;
  onSelect: () => void;
}

/** Pause after the last key before sessions are searched: at most four requests a second. */
const TYPED_MS = 250;
const OF_EACH_KIND = 6;

/** Where the reader can go: sessions, tables, terms, and what the page can do. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const places = usePlaces(words);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => setAt(0), [words]);
  const chosen = places[Math.min(at, places.length - 1)];
  const select = (place: Place | undefined) => {
    if (!place) return;
    onClose();
    place.onSelect();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Enter" && !event.isComposing) select(chosen);
    else if (by !== 0 && places.length > 0) setAt((at + by + places.length) % places.length);
    else return;
    event.preventDefault();
  };
  const { palette, paletteHint, paletteNone } = texts.sessions;
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label={palette}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <input
        type="text"
        role="combobox"
        aria-label={palette}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={chosen && `${id}-${chosen.key}`}
        aria-autocomplete="list"
        placeholder={paletteHint}
        maxLength={200}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="palette-list" id={`${id}-list`} role="listbox" aria-label={palette}>
        {[...Map.groupBy(places, (each) => each.kind)].map(([kind, items]) => (
          <div key={kind} role="group" aria-label={texts.sessions.paletteKinds[kind]}>
            <p aria-hidden="true">{texts.sessions.paletteKinds[kind]}</p>
            {items.map((place) => (
              <Option
                key={place.key}
                id={`${id}-${place.key}`}
                place={place}
                selected={place === chosen}
                onSelect={() => select(place)}
              />
            ))}
          </div>
        ))}
      </div>
      {places.length === 0 && <p class="quiet">{paletteNone}</p>}
    </dialog>
  );
}

interface ShownOption {
  id: string;
  place: Place;
  selected: boolean;
  onSelect: () => void;
}

function Option({ id, place, selected, onSelect }: ShownOption) {
  const option = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (selected) option.current?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  return (
    <div ref={option} id={id} role="option" tabIndex={-1} aria-selected={selected} onClick={onSelect}>
      <span>{place.label}</span>
      {place.about && <small>{place.about}</small>}
    </div>
  );
}

function usePlaces(words: string): Place[] {
  const [found, setFound] = useState<Place[]>([]);
  const [known, setKnown] = useState<Place[]>([]);
  useEffect(() => {
    let stale = false;
    const timer = setTimeout(
      () => {
        void sessionsWith(words).then((places) => !stale && setFound(places));
      },
      words ? TYPED_MS : 0,
    );
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [words]);
  useEffect(() => {
    let closed = false;
    void tablesAndTerms().then((places) => !closed && setKnown(places));
    return () => {
      closed = true;
    };
  }, []);
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ label, about }: Place) =>
    wanted.every((word) => `${label} ${about ?? ""}`.toLowerCase().includes(word));
  const fitting = [...(words ? known : []), ...actions()].filter(fits);
  const kinds = Object.keys(texts.sessions.paletteKinds) as Kind[];
  return kinds.flatMap((kind) =>
    [...found, ...fitting].filter((each) => each.kind === kind).slice(0, OF_EACH_KIND),
  );
}

/** Nothing is found where the server does not answer: the other kinds stay. */
async function sessionsWith(words: string): Promise<Place[]> {
  const page = await api.listSessions({ q: words || undefined }, undefined, OF_EACH_KIND).catch(() => null);
  return (page?.items ?? []).map((each) => ({
    kind: "sessions" as const,
    key: each.id,
    label: each.title ?? texts.sessions.untitled,
    about: each.found
      ? each.found.snippet.map((part) => part.text).join("")
      : (connectionOf(each.db_connection_id)?.name ?? ""),
    onSelect: () => go(`/sessions/${each.id}${each.found ? `#${each.found.message_id}` : ""}`),
  }));
}

/** Tables and terms of the database that is asked usually. */
async function tablesAndTerms(): Promise<Place[]> {
  const connection = usualConnection();
  if (!connection) return [];
  const { id, name } = connection;
  const [tables, terms] = await Promise.all([
    connection.scanned_at === null ? [] : allTables(connection).catch(() => []),
    readEntries("glossary", id).catch(() => []),
  ]);
  const ofTables = tables.map((each) => ({
    kind: "tables" as const,
    key: encodeURIComponent(each.name),
    label: each.name,
    about: name,
    onSelect: () => go(`/connections/${id}#${encodeURIComponent(each.name)}`),
  }));
  const ofTerms = terms.map((each) => ({
    kind: "terms" as const,
    key: each.id,
    label: each.term ?? "",
    about: each.meaning ?? "",
    onSelect: () => go(`/connections/${id}#glossary`),
  }));
  return [...ofTables, ...ofTerms];
}

function actions(): Place[] {
  const action = (label: string, onSelect: () => void): Place => ({
    kind: "actions",
    key: label.replace(/\W+/g, "-"),
    label,
    onSelect,
  });
  const ofConnections = (connections.value ?? []).map((each) =>
    action(each.name, () => go(`/connections/${each.id}`)),
  );
  return [
    action(texts.sessions.start, () => go("/")),
    action(texts.connections.title, () => go("/connections")),
    action(texts.memory.title, () => go("/memory")),
    action(texts.share.links, () => go("/links")),
    action(texts.boards.schedules, () => go("/schedules")),
    ...(me.value ? [action(texts.tools.title, () => go("/tools"))] : []),
    action(texts.settings.title, () => go("/settings")),
    action(texts.settings.changeTheme, nextTheme),
    ...ofConnections,
  ];
}
