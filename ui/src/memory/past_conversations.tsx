import { useEffect, useRef, useState } from "preact/hooks";
import { listPastConversations, searchPastConversations } from "../api/client";
import { asProblem } from "../api/problem";
import type { PastConversation, Problem } from "../api/types";
import { knowMe, me } from "../identity/me";
import { Analysis } from "../conversation/analysis/analysis";
import { ProblemBox } from "../shared/problem_box";
import { onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { moment } from "../shared/time";
import { memoryTexts } from "./texts";

/** After the last letter, so that not every letter is a search. */
const PAUSE_MS = 300;

/** Summaries of earlier conversations, each with a link to its session. */
export function PastConversations() {
  const [words, setWords] = useState("");
  const { past, problem, older, load } = usePast(words.trim());
  const { search, none, noneFound, more } = memoryTexts.past;
  return (
    <section class="entries">
      <input
        type="search"
        class="memory-search"
        aria-label={search}
        placeholder={search}
        maxLength={500}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      {problem && <ProblemBox problem={problem} onRetry={() => void load()} />}
      {past === null && !problem && <p class="quiet">{texts.loading} …</p>}
      {past?.length === 0 && <p class="quiet">{words ? noneFound(words) : none}</p>}
      {past?.map((each) => (
        <PastCard key={each.sessionId} past={each} />
      ))}
      {older && (
        <button type="button" class="button small" onClick={() => void load(older)}>
          {more}
        </button>
      )}
    </section>
  );
}

/** The latest conversations, or those that fit the words; an older reply never replaces a newer one. */
function usePast(words: string) {
  const [past, setPast] = useState<PastConversation[] | null>(null);
  const [older, setOlder] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const asked = useRef(0);
  const load = async (cursor?: string) => {
    asked.current += 1;
    const turn = asked.current;
    setProblem(null);
    try {
      await knowMe();
      const owner = me.value?.owner ?? "";
      const page = words
        ? { items: await searchPastConversations(owner, words), next_cursor: null }
        : await listPastConversations(owner, cursor);
      if (turn !== asked.current) return;
      setPast(cursor ? [...(past ?? []), ...page.items] : page.items);
      setOlder(page.next_cursor);
    } catch (error) {
      if (turn === asked.current) setProblem(asProblem(error));
    }
  };
  useEffect(() => {
    const timer = setTimeout(() => void load(), words ? PAUSE_MS : 0);
    return () => clearTimeout(timer);
  }, [words]);
  return { past, problem, older, load };
}

function PastCard({ past }: { past: PastConversation }) {
  const { open, about, fits, sentiments } = memoryTexts.past;
  const named = [...past.themes, ...past.persons, ...past.places].join(", ");
  const { relevance, userSentiment } = past;
  return (
    <article class="entry">
      <Analysis text={past.summary} whole />
      <p class="quiet">
        {moment(past.timestamp)}
        {named && ` · ${about(named)}`}
        {userSentiment && ` · ${sentiments[userSentiment]}`}
        {relevance !== undefined && ` · ${fits(Math.round(100 * relevance))}`} ·{" "}
        <a href={`/sessions/${past.sessionId}`} onClick={onLinkClick}>
          {open}
        </a>
      </p>
    </article>
  );
}
