import { Copy, RotateCw } from "lucide";
import { PinButton } from "../boards/pin_button";
import { ShareButton } from "../sharing/share_button";
import { bytes } from "../shared/bytes";
import { copy } from "../shared/copy";
import { orSay } from "../shared/or_say";
import { Icon } from "../shared/icon";
import { IconButton } from "../shared/icon_button";
import { texts } from "../shared/texts";
import { count, duration } from "../shared/time";
import type { Conversation } from "./conversation";
import { RememberThis } from "../memory/remember_this";
import { Feedback } from "./feedback/feedback";
import { type Exchange, shownSql } from "./model";
import { AskAboutResult } from "./proposals";

/** The actions of a finished answer, and its cost. */
export default function AnswerActions({
  exchange,
  conversation,
}: {
  exchange: Exchange;
  conversation: Conversation;
}) {
  const { answer } = exchange;
  if (answer.phase !== "complete") return null;
  const connectionId = conversation.session.value?.db_connection_id ?? null;
  return (
    <footer class="answer-actions">
      {answer.messageId && (
        <Feedback
          sessionId={conversation.sessionId}
          connectionId={connectionId}
          messageId={answer.messageId}
          sql={answer.sql}
          given={answer.feedback?.rating ?? null}
        />
      )}
      <IconButton
        icon={Copy}
        label={texts.answer.copy}
        onClick={() => orSay(copy(textOf(exchange), texts.copied))}
      />
      {answer.messageId && (
        <ShareButton kind="answer" thingId={answer.messageId} connectionId={connectionId} />
      )}
      <button
        type="button"
        class="icon-button"
        aria-label={texts.answer.again}
        title={conversation.isClosed.value ? texts.composer.resumeToAsk : texts.answer.again}
        disabled={conversation.isClosed.value}
        onClick={() => conversation.ask(exchange.question, exchange.sql)}
      >
        <Icon of={RotateCw} />
      </button>
      <PinButton exchange={exchange} conversation={conversation} />
      <RememberThis answer={answer} conversation={conversation} />
      <AskAboutResult exchange={exchange} conversation={conversation} />
      <span class="cost">
        {answer.elapsedMs !== null && duration(answer.elapsedMs)}
        {answer.tokensUsed > 0 && ` · ${texts.answer.tokens(count(answer.tokensUsed))}`}
        {answer.databaseMs > 0 && ` · ${texts.answer.inDatabase(duration(answer.databaseMs))}`}
        {answer.bytesRead !== null && ` · ${texts.answer.read(bytes(answer.bytesRead))}`}
      </span>
    </footer>
  );
}

function textOf({ question, answer }: Exchange): string {
  const sql = answer.sql && `\`\`\`sql\n${shownSql(answer)}\n\`\`\``;
  return [question, answer.analysis, sql].filter(Boolean).join("\n\n");
}
