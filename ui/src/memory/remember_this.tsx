import { Bookmark } from "lucide";
import type { Conversation } from "../conversation/conversation";
import type { Answer } from "../conversation/model";
import { remembersFacts } from "../shared/capability";
import { IconButton } from "../shared/icon_button";
import { lazy } from "../shared/lazy";
import { LONGEST } from "./turn";
import { turnTexts } from "./turn_texts";
import { useUnsent } from "../identity/unsent";

const NewFactForm = lazy(() => import("./new_fact"));

/** Keeps a fact from an answer. The form proposes the answer's words where they are short enough. */
export function RememberThis({ answer, conversation }: { answer: Answer; conversation: Conversation }) {
  const [asking, ask] = useUnsent(`new fact ${answer.messageId}`, false);
  const session = conversation.session.value;
  if (!remembersFacts.value || answer.messageId === null || session === null) return null;
  if (session.db_connection_id === null) return null;
  const from = { sessionId: session.id, messageId: answer.messageId, connectionId: session.db_connection_id };
  return (
    <>
      <IconButton icon={Bookmark} label={turnTexts.rememberThis} onClick={() => ask(true)} />
      {asking && (
        <NewFactForm
          from={from}
          text={answer.analysis.length <= LONGEST ? answer.analysis : ""}
          onClose={() => ask(false)}
        />
      )}
    </>
  );
}
