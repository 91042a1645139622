import { type IconNode, MoveUpRight, Pencil, Trash2 } from "lucide";
import { useEffect, useRef } from "preact/hooks";
import { changeFact } from "../api/client";
import type { Fact } from "../api/types";
import { connectionOf } from "../connections/connections";
import { mayChange } from "../identity/me";
import { Icon } from "../shared/icon";
import { orSay } from "../shared/or_say";
import { onLinkClick } from "../shared/route";
import { count, moment } from "../shared/time";
import { EditForm, MoveForm } from "./fact_forms";
import { forget } from "./facts";
import { memoryTexts } from "./texts";
import { useUnsent } from "../identity/unsent";

interface Shown {
  fact: Fact;
  /** Whether the address names it. */
  sought: boolean;
  onChange: () => void;
}

/** A fact: its words, where they come from, when it was used, and what is wrong with it. */
export function FactCard({ fact, sought, onChange }: Shown) {
  const [doing, set] = useUnsent<"edit" | "move" | null>(`fact ${fact.id}`, null);
  const root = useSought(sought);
  const { edit, move, stale, accept, decline, restore } = memoryTexts.facts;
  const isMine = fact.scope !== "shared" || mayChange(connectionOf(fact.db_connection_id ?? ""));
  const activate = () => orSay(changeFact(fact.id, { status: "active" }).then(onChange));
  const drop = () => forget(fact, onChange);
  return (
    <article class={sought ? "entry sought" : "entry"} ref={root} tabIndex={sought ? -1 : undefined}>
      <header>
        <p class="memory-text">{fact.text}</p>
        {isMine && fact.status === "active" && (
          <>
            <FactButton icon={Pencil} label={edit} fact={fact} onClick={() => set("edit")} />
            <FactButton icon={MoveUpRight} label={move} fact={fact} onClick={() => set("move")} />
          </>
        )}
        {isMine && <FactButton icon={Trash2} label={memoryTexts.forget} fact={fact} onClick={drop} />}
      </header>
      <Origin fact={fact} />
      {fact.stale && <p class="warning">{stale(fact.about.join(", "))}</p>}
      {isMine && fact.status !== "active" && (
        <div class="problem-actions">
          <button type="button" class="button small primary" onClick={activate}>
            {fact.status === "waiting" ? accept : restore}
          </button>
          {fact.status === "waiting" && (
            <button type="button" class="button small" onClick={drop}>
              {decline}
            </button>
          )}
        </div>
      )}
      {doing === "edit" && <EditForm fact={fact} onChange={onChange} onClose={() => set(null)} />}
      {doing === "move" && <MoveForm fact={fact} onChange={onChange} onClose={() => set(null)} />}
    </article>
  );
}

/** Scrolls to what the address names. */
function useSought(sought: boolean) {
  const root = useRef<HTMLElement>(null);
  useEffect(() => {
    if (sought) root.current?.focus();
  }, [sought]);
  return root;
}

function FactButton({
  icon,
  label,
  fact,
  onClick,
}: {
  icon: IconNode;
  label: string;
  fact: Fact;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`${label}: ${fact.text}`}
      title={label}
      onClick={onClick}
    >
      <Icon of={icon} size={15} />
    </button>
  );
}

/** Where a fact comes from, with a link to the very message, what it is about, and its use. */
function Origin({ fact }: { fact: Fact }) {
  const { kinds, origins, tainted, used, neverUsed, expires, message, session } = memoryTexts.facts;
  const { source } = fact;
  const database = fact.db_connection_id && connectionOf(fact.db_connection_id)?.name;
  const parts = [
    kinds[fact.kind],
    database,
    fact.about.join(", "),
    `${origins[source.origin]}, ${moment(source.at)}`,
    source.tainted && tainted,
    fact.uses > 0 ? used(count(fact.uses), moment(fact.used_at)) : neverUsed,
    fact.expires_at && expires(moment(fact.expires_at)),
  ];
  const place = source.message_id ? `#${source.message_id}` : "";
  return (
    <p class="quiet">
      {parts.filter(Boolean).join(" · ")}
      {source.session_id && (
        <>
          {" · "}
          <a href={`/sessions/${source.session_id}${place}`} onClick={onLinkClick}>
            {source.message_id ? message : session}
          </a>
        </>
      )}
    </p>
  );
}
