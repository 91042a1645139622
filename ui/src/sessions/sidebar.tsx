import { computed } from "@preact/signals";
import { Database, LogOut, Moon, Plus, Search, Sun, SunMoon } from "lucide";
import { useEffect, useRef } from "preact/hooks";
import { signOut } from "../api/credential";
import type { Session } from "../api/types";
import { me } from "../identity/me";
import { Icon } from "../shared/icon";
import { orSay } from "../shared/or_say";
import { onLinkClick, route } from "../shared/route";
import { texts } from "../shared/texts";
import { nextTheme, theme } from "../shared/theme";
import { groupOf } from "../shared/time";
import { SessionLink } from "./session_link";
import { hasOlder, loadOlder, problem, refreshSessions, search, searchSessions, sessions } from "./sessions";
import "./sidebar.css";

const groups = computed(() => {
  const now = new Date();
  return Map.groupBy(sessions.value ?? [], (each: Session) => groupOf(each.updated_at, now));
});

export function Sidebar() {
  useEffect(() => void refreshSessions(), []);
  return (
    <nav class="sidebar" aria-label={texts.sessions.title}>
      <header class="sidebar-head">
        <a class="brand" href="/" onClick={onLinkClick}>
          <img src="/favicon.svg" alt="" width="22" height="22" />
          {texts.product}
        </a>
        <a class="button small" href="/" onClick={onLinkClick}>
          <Icon of={Plus} /> {texts.sessions.start}
        </a>
      </header>
      <SearchField />
      <List />
      <Footer />
    </nav>
  );
}

function SearchField() {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      field.current?.focus();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <div class="search">
      <Icon of={Search} size={15} />
      <input
        ref={field}
        type="search"
        aria-label={texts.sessions.search}
        aria-keyshortcuts="Control+K"
        placeholder={texts.sessions.search}
        maxLength={500}
        value={search.value}
        onInput={(event) => searchSessions(event.currentTarget.value)}
      />
    </div>
  );
}

function List() {
  if (problem.value && !sessions.value) return <Failed />;
  if (sessions.value === null) return <div class="session-list" aria-busy="true" />;
  if (sessions.value.length === 0) {
    const { none, noneFound } = texts.sessions;
    return <p class="session-list quiet">{search.value ? noneFound(search.value) : none}</p>;
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
      {hasOlder() && (
        <button type="button" class="button quiet-button" onClick={() => orSay(loadOlder())}>
          {texts.sessions.older}
        </button>
      )}
    </div>
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

function SignOut({ owner }: { owner: string }) {
  const label = texts.identity.signOut(owner);
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={signOut}>
      <Icon of={LogOut} />
    </button>
  );
}

const THEME_ICONS = { system: SunMoon, light: Sun, dark: Moon };

function Footer() {
  const { page } = route.value;
  const current = page === "connections" || page === "connection";
  return (
    <footer class="sidebar-foot">
      <a
        class="foot-link"
        href="/connections"
        aria-current={current ? "page" : undefined}
        onClick={onLinkClick}
      >
        <Icon of={Database} /> {texts.connections.title}
      </a>
      <button
        type="button"
        class="icon-button"
        aria-label={texts.theme[theme.value]}
        title={texts.theme[theme.value]}
        onClick={nextTheme}
      >
        <Icon of={THEME_ICONS[theme.value]} />
      </button>
      {me.value && me.value.signed_in_by !== "local" && <SignOut owner={me.value.owner} />}
    </footer>
  );
}
