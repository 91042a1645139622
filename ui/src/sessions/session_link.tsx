import { Ellipsis, Pencil, Trash2 } from "lucide";
import { useState } from "preact/hooks";
import type { Session } from "../api/types";
import { Menu } from "../shared/menu";
import { onLinkClick, route } from "../shared/route";
import { texts } from "../shared/texts";
import { remove, rename } from "./sessions";

/** A session in the list: a link, its options, and a field while it is renamed. */
export function SessionLink({ session }: { session: Session }) {
  const [renaming, setRenaming] = useState(false);
  if (renaming) return <RenameField session={session} onEnd={() => setRenaming(false)} />;
  const title = session.title ?? texts.sessions.untitled;
  const here = route.value;
  const current = here.page === "session" && here.sessionId === session.id;
  return (
    <li class="session-link">
      <a
        href={`/sessions/${session.id}`}
        title={title}
        aria-current={current ? "page" : undefined}
        onClick={onLinkClick}
      >
        <span class="session-title">{title}</span>
        {session.status === "processing" && (
          <span class="answering-dot" role="img" aria-label={texts.sessions.answering} />
        )}
        {session.status === "error" && (
          <span class="error-dot" role="img" aria-label={texts.sessions.error} title={texts.sessions.error} />
        )}
      </a>
      <Menu
        icon={Ellipsis}
        label={texts.sessions.options(title)}
        items={[
          { icon: Pencil, label: texts.sessions.rename, onSelect: () => setRenaming(true) },
          { icon: Trash2, label: texts.remove, onSelect: () => remove(session) },
        ]}
      />
    </li>
  );
}

function RenameField({ session, onEnd }: { session: Session; onEnd: () => void }) {
  const keep = (title: string) => {
    onEnd();
    if (title.trim() && title.trim() !== session.title) void rename(session, title.trim());
  };
  return (
    <li class="session-link">
      <input
        ref={(field) => field?.select()}
        class="rename"
        aria-label={texts.sessions.name}
        maxLength={200}
        defaultValue={session.title ?? ""}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.value = session.title ?? "";
          if (event.key === "Enter" || event.key === "Escape") event.currentTarget.blur();
        }}
        onBlur={(event) => keep(event.currentTarget.value)}
      />
    </li>
  );
}
