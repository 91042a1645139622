import { CircleHelp, MessageSquareText } from "lucide";
import { useEffect } from "preact/hooks";
import type { About } from "../api/client";
import { Icon } from "../shared/icon";
import { texts } from "../shared/texts";
import type { Conversation } from "./conversation";
import { draft } from "./draft";
import { investigates, knowCapabilities } from "../shared/capability";
import type { Exchange } from "./model";

interface Shown {
  exchange: Exchange;
  conversation: Conversation;
}

/** Proposes to ask why an answer failed. */
export function ExplainFailure({ exchange, conversation }: Shown) {
  const { explain, explainWords, failure } = texts.proposals;
  const { messageId } = exchange.answer;
  if (!useProposals(conversation) || messageId === null) return null;
  const about = { kind: "failed_answer", id: messageId } as const;
  const propose = () => write(conversation, about, explainWords, failure(exchange.question));
  return (
    <p class="proposals">
      <button type="button" class="button small" onClick={propose}>
        <Icon of={CircleHelp} size={14} /> {explain}
      </button>
    </p>
  );
}

/** Proposes to ask about the rows of an answer. */
export function AskAboutResult({ exchange, conversation }: Shown) {
  const { ask, askWords, result } = texts.proposals;
  const { messageId, head } = exchange.answer;
  if (!useProposals(conversation) || messageId === null || head === null) return null;
  const about = { kind: "result", id: messageId } as const;
  const propose = () => write(conversation, about, askWords, result(exchange.question));
  return (
    <button type="button" class="button small" onClick={propose}>
      <Icon of={MessageSquareText} size={14} /> {ask}
    </button>
  );
}

/** Puts a question about something into the field. */
function write({ sessionId }: Conversation, about: About, words: string, label: string): void {
  draft.value = { words, about, label, place: { sessionId } };
}

/** Whether questions are proposed: a model can answer them, and the session takes questions. */
export function useProposals(conversation: Conversation): boolean {
  useEffect(knowCapabilities, []);
  return investigates.value && conversation.session.value?.status !== "closed";
}
