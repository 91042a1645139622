import { useEffect, useState } from "preact/hooks";
import * as api from "../api/client";
import type { AskedQuestion } from "../api/types";
import { Dialog } from "../shared/dialog";
import { orSay } from "../shared/or_say";
import { onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { moment } from "../shared/time";
import type { Conversation } from "./conversation";
import "./outline.css";

/** The questions of a long session, each a link to its exchange. */
export default function Outline({
  conversation,
  onClose,
}: {
  conversation: Conversation;
  onClose: () => void;
}) {
  const [questions, setQuestions] = useState<AskedQuestion[] | null>(null);
  useEffect(() => orSay(allQuestions(conversation.sessionId, setQuestions)), [conversation]);
  const here = conversation.exchanges.value[conversation.at.value];
  const follow = (event: MouseEvent) => {
    onClose();
    onLinkClick(event);
  };
  return (
    <Dialog title={texts.sessions.outline} onClose={onClose}>
      <ol class="outline" aria-busy={questions === null}>
        {questions?.map((each) => (
          <li key={each.message_id}>
            <a
              href={`/sessions/${conversation.sessionId}#${each.message_id}`}
              aria-current={each.run_id === here?.key ? "true" : undefined}
              title={moment(each.asked_at)}
              onClick={follow}
            >
              {each.query}
            </a>
          </li>
        ))}
      </ol>
    </Dialog>
  );
}

async function allQuestions(sessionId: string, show: (questions: AskedQuestion[]) => void): Promise<void> {
  const found: AskedQuestion[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.listQuestions(sessionId, cursor);
    found.push(...page.items);
    show([...found]);
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
}
