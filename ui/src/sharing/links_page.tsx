import { Copy, LayoutDashboard, Link2, MessageSquare, MessagesSquare, Trash2 } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Problem, SharedLink } from "../api/types";
import { copy } from "../shared/copy";
import { Icon } from "../shared/icon";
import { orSay } from "../shared/or_say";
import { ProblemBox } from "../shared/problem_box";
import { onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { shortly } from "../boards/when";
import { say } from "../shared/toasts";
import { addressOf, listLinks, revokeLink } from "./links_api";
import { linkTexts } from "./texts";
import "./sharing.css";

const ICONS = { answer: MessageSquare, session: MessagesSquare, board: LayoutDashboard };

/** The links that the reader has made, newest first; each can be copied, opened and revoked. */
export default function LinksPage() {
  const [links, setLinks] = useState<SharedLink[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const load = async (cursor?: string) => {
    setProblem(null);
    try {
      const page = await listLinks(cursor);
      setLinks((before) => [...(cursor === undefined ? [] : (before ?? [])), ...page.items]);
      setNext(page.next_cursor);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  useEffect(() => {
    document.title = `${linkTexts.list} · ${texts.product}`;
    void load();
  }, []);
  const revoke = async (link: SharedLink) => {
    if (!confirm(linkTexts.sure)) return;
    await revokeLink(link.id);
    setLinks((before) => before?.filter((each) => each.id !== link.id) ?? null);
    say(linkTexts.revoked);
  };
  return (
    <div class="page">
      <header class="page-head">
        <div>
          <h1>{linkTexts.list}</h1>
          <p class="quiet">{linkTexts.lead}</p>
        </div>
      </header>
      {problem && <ProblemBox problem={problem} onRetry={() => void load()} />}
      {links === null && !problem && <p class="quiet">{texts.loading} …</p>}
      {links?.length === 0 && (
        <p class="links-none quiet">
          <Icon of={Link2} size={18} /> {linkTexts.none}
        </p>
      )}
      <ul class="link-list">
        {links?.map((each) => (
          <Row key={each.id} link={each} onRevoke={() => orSay(revoke(each))} />
        ))}
      </ul>
      {next !== null && (
        <button type="button" class="button" onClick={() => void load(next)}>
          {linkTexts.older}
        </button>
      )}
    </div>
  );
}

function Row({ link, onRevoke }: { link: SharedLink; onRevoke: () => void }) {
  const title = link.title ?? linkTexts.untitled;
  const isOver = Date.parse(link.expires_at) <= Date.now();
  const ends = (isOver ? linkTexts.ended : linkTexts.ends)(shortly(link.expires_at));
  return (
    <li data-over={isOver ? "" : undefined}>
      <Icon of={ICONS[link.kind]} size={18} />
      <div>
        {isOver ? (
          <strong>{title}</strong>
        ) : (
          <a href={`/shared/${link.id}`} onClick={onLinkClick}>
            {title}
          </a>
        )}
        <p class="quiet">
          {linkTexts.kinds[link.kind]} · {linkTexts.madeOn(shortly(link.created_at))} · {ends}
        </p>
      </div>
      <div class="link-actions">
        {!isOver && (
          <button
            type="button"
            class="button small"
            aria-label={linkTexts.copyOf(title)}
            onClick={() => orSay(copy(addressOf(link.id), linkTexts.copied))}
          >
            <Icon of={Copy} size={14} /> {linkTexts.copy}
          </button>
        )}
        <button type="button" class="button small" aria-label={linkTexts.revokeOf(title)} onClick={onRevoke}>
          <Icon of={Trash2} size={14} /> {linkTexts.revoke}
        </button>
      </div>
    </li>
  );
}
