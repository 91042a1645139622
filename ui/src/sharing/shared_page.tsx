import { GitFork, MessageSquarePlus } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Problem, Shared } from "../api/types";
import { Comments } from "../comments/lazy_comments";
import { exchangesOf } from "../conversation/history";
import { me } from "../identity/me";
import { refreshSessions } from "../sessions/sessions";
import { Icon } from "../shared/icon";
import { lazy } from "../shared/lazy";
import { ProblemBox } from "../shared/problem_box";
import { Unread } from "../shared/unread";
import { go, onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { shortly } from "../boards/when";
import { continueLink, openLink } from "./links_api";
import { SharedExchange } from "./shared_exchange";
import { linkTexts } from "./texts";
import "../conversation/conversation_page.css";
import "./sharing.css";

const SharedBoard = lazy(() => import("./shared_board"));

/** What a link shows: an answer, a session or a board, to read. */
export default function SharedPage({ linkId }: { linkId: string }) {
  const { shared, problem, load } = useShared(linkId);
  const title = shared?.title ?? (shared ? linkTexts.untitled : null);
  useEffect(() => {
    document.title = title ? `${title} · ${texts.product}` : texts.product;
  }, [title]);
  if (shared === null) {
    if (problem) return <Unread problem={problem} onRetry={() => void load()} />;
    return <p class="page quiet">{texts.loading} …</p>;
  }
  return (
    <div class="shared" data-kind={shared.kind}>
      <Head shared={shared} title={title ?? ""} />
      {problem && <ProblemBox problem={problem} onRetry={() => void load()} />}
      {shared.board && (
        <Comments thing={{ kind: "board", thingId: shared.board.id, linkId: shared.link_id }} />
      )}
      {shared.board ? <SharedBoard board={shared.board} /> : <Messages shared={shared} load={load} />}
    </div>
  );
}

function useShared(linkId: string) {
  const [shared, setShared] = useState<Shared | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  /** Reads what the link shows, or the page of its messages before those that are shown. */
  const load = async (cursor?: string) => {
    setProblem(null);
    try {
      const read = await openLink(linkId, cursor);
      setShared((before) => (cursor === undefined || before === null ? read : withEarlier(before, read)));
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  useEffect(() => void load(), []);
  return { shared, problem, load };
}

function withEarlier(shown: Shared, { messages }: Shared): Shared {
  return { ...shown, messages: { ...messages, items: [...messages.items, ...shown.messages.items] } };
}

function Head({ shared, title }: { shared: Shared; title: string }) {
  const { owner, expires_at, kind } = shared;
  const about = [
    linkTexts.kinds[kind],
    linkTexts.readOnly,
    owner === me.value?.owner ? linkTexts.yours : linkTexts.by(owner),
    linkTexts.ends(shortly(expires_at)),
  ];
  return (
    <header class="shared-head">
      <div>
        <h1>{title}</h1>
        <p class="quiet">{about.join(" · ")}</p>
      </div>
      {kind === "board" ? <Begin /> : <Continue linkId={shared.link_id} />}
    </header>
  );
}

/** Copies the conversation as the reader's own, or says why not. */
function Continue({ linkId }: { linkId: string }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [copying, setCopying] = useState(false);
  const scopes = me.value?.scopes ?? [];
  const mayAsk = scopes.includes("ask") || scopes.includes("admin");
  const copyAll = async () => {
    setProblem(null);
    setCopying(true);
    try {
      const own = await continueLink(linkId);
      void refreshSessions();
      go(`/sessions/${own.id}`);
    } catch (error) {
      setProblem(asProblem(error));
      setCopying(false);
    }
  };
  return (
    <div class="shared-go-on">
      <button
        type="button"
        class="button primary"
        disabled={copying || !mayAsk}
        onClick={() => void copyAll()}
      >
        <Icon of={GitFork} /> {linkTexts.goOn}
      </button>
      <p class="quiet">{me.value && !mayAsk ? linkTexts.mayNotAsk : linkTexts.goOnLead}</p>
      {problem && <ProblemBox problem={problem} />}
    </div>
  );
}

function Begin() {
  return (
    <div class="shared-go-on">
      <a class="button" href="/" onClick={onLinkClick}>
        <Icon of={MessageSquarePlus} /> {linkTexts.begin}
      </a>
      <p class="quiet">{linkTexts.boardLead}</p>
    </div>
  );
}

function Messages({ shared, load }: { shared: Shared; load: (cursor: string) => Promise<void> }) {
  const { items, next_cursor } = shared.messages;
  const answered = exchangesOf(items).filter((each) => each.kept);
  return (
    <div class="exchanges">
      {next_cursor !== null && (
        <button type="button" class="button small" onClick={() => void load(next_cursor)}>
          {linkTexts.earlier}
        </button>
      )}
      {answered.length === 0 && <p class="quiet">{linkTexts.empty}</p>}
      {answered.map((each) => (
        <SharedExchange key={each.key} exchange={each} linkId={shared.link_id} />
      ))}
    </div>
  );
}
