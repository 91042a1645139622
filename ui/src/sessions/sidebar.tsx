import { computed } from "@preact/signals";
import { ListFilter, Plus, Search } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ListedSession } from "../api/types";
import { connections, refreshConnections } from "../connections/connections";
import { Icon } from "../shared/icon";
import { IconButton } from "../shared/icon_button";
import { orSay } from "../shared/or_say";
import { onLinkClick, route } from "../shared/route";
import { texts } from "../shared/texts";
import { groupOf } from "../shared/time";
import { Navigation, SidebarFoot } from "./navigation";
import { SessionLink } from "./session_link";
import {
  type Filter,
  filter,
  filterSessions,
  findStray,
  hasOlder,
  loadOlder,
  pinned,
  problem,
  refreshSessions,
  searchSessions,
  sessions,
  stray,
} from "./sessions";
import "./sidebar.css";

const groups = computed(() => {
  const listed: ListedSession[] = sessions.value ?? [];
  const { words } = filter.value;
  if (words) return new Map([[texts.sessions.results(words), listed]]);
  const now = new Date();
  const byDay = Map.groupBy(listed, (each) => groupOf(each.updated_at, now));
  const above: [string, ListedSession[]][] = [
    [texts.sessions.here, stray.value ? [stray.value] : []],
    [texts.sessions.pinned, pinned.value],
  ];
  return new Map([...above.filter(([, items]) => items.length > 0), ...byDay]);
});

export function Sidebar() {
  useEffect(() => {
    void refreshSessions();
    if (connections.value === null) void refreshConnections();
  }, []);
  useEffect(() => void findStray(), [route.value]);
  return (
    <nav class="sidebar" aria-label={texts.sessions.title}>
      <header class="sidebar-head">
        <a class="brand" href="/" onClick={onLinkClick}>
          <img src="/favicon.svg" alt="" width="24" height="24" />
          {texts.product}
        </a>
        <a class="button" href="/" onClick={onLinkClick}>
          <Icon of={Plus} /> {texts.sessions.start}
        </a>
      </header>
      <Navigation />
      <SearchField />
      <List />
      <SidebarFoot />
    </nav>
  );
}

function SearchField() {
  const { words, connectionId, status } = filter.value;
  const narrowed = connectionId !== "" || status !== "";
  const [open, setOpen] = useState(false);
  return (
    <>
      <div class="search">
        <Icon of={Search} size={15} />
        <input
          type="search"
          aria-label={texts.sessions.search}
          placeholder={texts.sessions.search}
          maxLength={500}
          value={words}
          onInput={(event) => searchSessions(event.currentTarget.value)}
        />
        <IconButton
          icon={ListFilter}
          label={texts.sessions.filter}
          size={15}
          expanded={open || narrowed}
          onClick={() => setOpen(!open)}
        />
      </div>
      {(open || narrowed) && <Filters />}
    </>
  );
}

function Filters() {
  const { connectionId, status } = filter.value;
  const { database, anyDatabase, state, anyState, states } = texts.sessions;
  return (
    <div class="session-filters">
      <select
        aria-label={database}
        value={connectionId}
        onChange={(event) => filterSessions({ connectionId: event.currentTarget.value })}
      >
        <option value="">{anyDatabase}</option>
        {connections.value?.map((each) => (
          <option key={each.id} value={each.id}>
            {each.name}
          </option>
        ))}
      </select>
      <select
        aria-label={state}
        value={status}
        onChange={(event) => filterSessions({ status: event.currentTarget.value as Filter["status"] })}
      >
        <option value="">{anyState}</option>
        {Object.entries(states).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}

function List() {
  if (problem.value && !sessions.value) return <Failed />;
  if (sessions.value === null) return <div class="session-list" aria-busy="true" />;
  if (groups.value.size === 0 || (filter.value.words && sessions.value.length === 0)) {
    const { none, noneFound, noneSuch } = texts.sessions;
    const { words, connectionId, status } = filter.value;
    return (
      <p class="session-list quiet">{words ? noneFound(words) : connectionId || status ? noneSuch : none}</p>
    );
  }
  return (
    <div class="session-list">
      {[...groups.value].map(([title, items]) => (
        <section key={title}>
          <h2>{title}</h2>
          <ul>
            {items.map((each) => (
              <SessionLink key={each.id} session={each} />
            ))}
          </ul>
        </section>
      ))}
      {hasOlder() && <Older />}
    </div>
  );
}

/** Loads older sessions when the end of the list comes into sight, or is chosen by keyboard. */
function Older() {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(
      ([seen]) => {
        if (seen?.isIntersecting) orSay(loadOlder());
      },
      { rootMargin: "200px" },
    );
    if (button.current) observer.observe(button.current);
    return () => observer.disconnect();
  }, [sessions.value?.length]);
  return (
    <button ref={button} type="button" class="button quiet-button" onClick={() => orSay(loadOlder())}>
      {texts.sessions.older}
    </button>
  );
}

function Failed() {
  return (
    <div class="session-list quiet">
      <p>{texts.sessions.failed}</p>
      <button type="button" class="button small" onClick={() => void refreshSessions()}>
        {texts.retry}
      </button>
    </div>
  );
}
