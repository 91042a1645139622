import { Pin as PinIcon } from "lucide";
import { useState } from "preact/hooks";
import type { Conversation } from "../conversation/conversation";
import type { Exchange } from "../conversation/model";
import { IconButton } from "../shared/icon_button";
import { lazy } from "../shared/lazy";
import { sizeOf } from "./sizes";
import { texts } from "../shared/texts";

const PinDialog = lazy(() => import("./pin_dialog"));

/** Pins an answer that has a statement and rows to a board. */
export function PinButton({ exchange, conversation }: { exchange: Exchange; conversation: Conversation }) {
  const [asking, ask] = useState(false);
  const { answer } = exchange;
  if (!answer.messageId || !answer.sql || answer.head === null) return null;
  return (
    <>
      <IconButton icon={PinIcon} label={texts.boards.pin} onClick={() => ask(true)} />
      {asking && (
        <PinDialog
          messageId={answer.messageId}
          question={answer.standalone_question || exchange.question}
          size={sizeOf(answer.head.columns, answer.head.rowCount, answer.chart !== null)}
          session={conversation.session.value}
          onClose={() => ask(false)}
        />
      )}
    </>
  );
}
