import { Ellipsis, FileText, Lock, LockOpen, Pencil, Pin, PinOff, Trash2 } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ListedSession, Session } from "../api/types";
import { connectionOf, connections } from "../connections/connections";
import { lazy } from "../shared/lazy";
import { Menu } from "../shared/menu";
import { onLinkClick, route } from "../shared/route";
import { texts } from "../shared/texts";
import { dateText } from "../shared/time";
import { close, pin, remove, rename } from "./sessions";

const ReportDialog = lazy(() => import("../reports/report_dialog"));

/** A session in the list: a link, its options, and a field while it is renamed. */
export function SessionLink({ session }: { session: ListedSession }) {
  const [renaming, setRenaming] = useState<Renaming | null>(null);
  const [reporting, setReporting] = useState(false);
  const link = useRef<HTMLAnchorElement>(null);
  const returns = useRef(false);
  useEffect(() => {
    if (renaming !== null || !returns.current) return;
    returns.current = false;
    link.current?.focus();
  }, [renaming]);
  const end = (byKey: boolean) => {
    returns.current = byKey;
    setRenaming(null);
  };
  const title = session.title ?? texts.sessions.untitled;
  const here = route.value;
  const current = here.page === "session" && here.sessionId === session.id;
  useEffect(() => {
    if (current && link.current) reveal(link.current);
  }, [current]);
  if (renaming !== null) return <RenameField {...renaming} onEnd={end} onNotSaved={setRenaming} />;
  const { found } = session;
  const isPinned = session.pinned_at !== null;
  return (
    <li class="session-link">
      <a
        ref={link}
        href={`/sessions/${session.id}${found ? `#${found.message_id}` : ""}`}
        title={title}
        aria-current={current ? "page" : undefined}
        onClick={onLinkClick}
      >
        <span class="session-title">{title}</span>
        {session.status === "processing" && (
          <span class="answering-dot" role="img" aria-label={texts.sessions.answering} />
        )}
        {session.status === "awaiting_approval" && (
          <span
            class="waiting-dot"
            role="img"
            aria-label={texts.sessions.awaitsApproval}
            title={texts.sessions.awaitsApproval}
          />
        )}
        {session.status === "error" && (
          <span class="error-dot" role="img" aria-label={texts.sessions.error} title={texts.sessions.error} />
        )}
        {found && (
          <span class="session-snippet">
            {found.snippet.map((part, index) =>
              part.is_hit ? <mark key={index}>{part.text}</mark> : <span key={index}>{part.text}</span>,
            )}
          </span>
        )}
        <About session={session} />
      </a>
      <Menu
        icon={Ellipsis}
        label={texts.sessions.options(title)}
        items={[
          {
            icon: isPinned ? PinOff : Pin,
            label: isPinned ? texts.sessions.unpin : texts.sessions.pin,
            onSelect: () => void pin(session),
          },
          {
            icon: Pencil,
            label: texts.sessions.rename,
            onSelect: () => setRenaming({ session, typed: session.title ?? "" }),
          },
          { icon: FileText, label: texts.reports.make, onSelect: () => setReporting(true) },
          {
            icon: session.status === "closed" ? LockOpen : Lock,
            label: session.status === "closed" ? texts.sessions.reopen : texts.close,
            onSelect: () => void close(session),
          },
          { icon: Trash2, label: texts.remove, onSelect: () => remove(session) },
        ]}
      />
      {reporting && <ReportDialog of={{ session }} onClose={() => setReporting(false)} />}
    </li>
  );
}

/** Scrolls the list, and nothing around it, until the link is in sight. */
function reveal(link: HTMLElement): void {
  const list = link.closest<HTMLElement>(".session-list");
  if (!list) return;
  const [seen, of] = [list.getBoundingClientRect(), link.getBoundingClientRect()];
  if (of.top < seen.top) list.scrollTop -= seen.top - of.top;
  else if (of.bottom > seen.bottom) list.scrollTop += of.bottom - seen.bottom;
}

/** When the session was last used, its database if there are several, and its length. */
function About({ session }: { session: Session }) {
  const connection =
    (connections.value?.length ?? 0) > 1 ? connectionOf(session.db_connection_id) : undefined;
  const today = new Date().toDateString() === new Date(session.updated_at).toDateString();
  const parts = [
    dateText(session.updated_at, today ? "time" : "dayOfYear"),
    connection?.name,
    session.turns > 0 && texts.sessions.questions(session.turns),
    session.status === "closed" && texts.sessions.closed,
  ];
  return <span class="session-about">{parts.filter(Boolean).join(" · ")}</span>;
}

/** A session as it was when its renaming began, and the new title. */
interface Renaming {
  session: Session;
  typed: string;
}

interface Field extends Renaming {
  onEnd: (byKey: boolean) => void;
  /** The title is not saved: there is a newer one, and the reader has not chosen. */
  onNotSaved: (renaming: Renaming) => void;
}

function RenameField({ session, typed, onEnd, onNotSaved }: Field) {
  const byKey = useRef(false);
  const keep = async (title: string) => {
    onEnd(byKey.current);
    if (!title || title === session.title) return;
    if (!(await rename(session, title))) onNotSaved({ session, typed: title });
  };
  return (
    <li class="session-link">
      <input
        ref={(field) => field?.select()}
        class="rename"
        aria-label={texts.sessions.name}
        maxLength={200}
        defaultValue={typed}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.value = session.title ?? "";
          if (event.key !== "Enter" && event.key !== "Escape") return;
          byKey.current = true;
          event.currentTarget.blur();
        }}
        onBlur={(event) => void keep(event.currentTarget.value.trim())}
      />
    </li>
  );
}
