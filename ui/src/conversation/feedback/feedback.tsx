import { ThumbsDown, ThumbsUp } from "lucide";
import { useState } from "preact/hooks";
import { giveFeedback } from "../../api/client";
import { asProblem } from "../../api/problem";
import { Dialog } from "../../shared/dialog";
import { Icon } from "../../shared/icon";
import { lazy } from "../../shared/lazy";
import { texts } from "../../shared/texts";
import { say } from "../../shared/toasts";
import { useUnsent } from "../../identity/unsent";

const KeepExample = lazy(() => import("./keep_example"));

type Rating = "up" | "down";
interface Shown {
  sessionId: string;
  /** The database that the statement reads. */
  connectionId: string | null;
  messageId: string;
  sql: string;
  /** The rating that is stored. */
  given: Rating | null;
}

/** Thumbs; one down asks what was wrong and what the SQL should have been. */
export function Feedback({ sessionId, connectionId, messageId, sql, given }: Shown) {
  const [rating, setRating] = useState<Rating | null>(given);
  const [asking, setAsking] = useUnsent(`feedback ${messageId}`, false);
  const [keeping, setKeeping] = useState(false);
  const give = async (body: { rating: Rating; comment?: string; corrected_sql?: string }) => {
    try {
      await giveFeedback(sessionId, messageId, body);
      setRating(body.rating);
      setAsking(false);
      setKeeping(body.rating === "up" && sql !== "");
      say(texts.feedback.thanks);
    } catch (error) {
      say(asProblem(error).detail);
    }
  };
  const thumb = (which: Rating, label: string, onClick: () => void) => (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      aria-pressed={rating === which}
      onClick={onClick}
    >
      <Icon of={which === "up" ? ThumbsUp : ThumbsDown} />
    </button>
  );
  return (
    <>
      {thumb("up", texts.feedback.good, () => void give({ rating: "up" }))}
      {thumb("down", texts.feedback.bad, () => setAsking(true))}
      {keeping && connectionId !== null && (
        <KeepExample connectionId={connectionId} messageId={messageId} onClose={() => setKeeping(false)} />
      )}
      {asking && (
        <Dialog title={texts.feedback.title} onClose={() => setAsking(false)}>
          <Form
            messageId={messageId}
            sql={sql}
            onSend={(comment, corrected) => void give(down(comment, corrected, sql))}
          />
        </Dialog>
      )}
    </>
  );
}

/** Unchanged fields are not sent. */
function down(comment: string, corrected: string, sql: string) {
  return {
    rating: "down" as const,
    ...(comment.trim() && { comment: comment.trim() }),
    ...(corrected.trim() && corrected.trim() !== sql.trim() && { corrected_sql: corrected.trim() }),
  };
}

interface FormShown {
  messageId: string;
  sql: string;
  onSend: (comment: string, corrected: string) => void;
}

function Form({ messageId, sql, onSend }: FormShown) {
  const [comment, setComment] = useUnsent(`feedback ${messageId} comment`, "");
  const [corrected, setCorrected] = useUnsent(`feedback ${messageId} sql`, sql);
  const onSubmit = (event: Event) => {
    event.preventDefault();
    onSend(comment, corrected);
  };
  return (
    <form class="form" onSubmit={onSubmit}>
      <label>
        {texts.feedback.comment}
        <textarea
          rows={3}
          maxLength={4_000}
          value={comment}
          onInput={(event) => setComment(event.currentTarget.value)}
        />
      </label>
      {sql && (
        <label>
          {texts.feedback.sql}
          <textarea
            class="code"
            rows={8}
            value={corrected}
            onInput={(event) => setCorrected(event.currentTarget.value)}
          />
        </label>
      )}
      <button type="submit" class="button primary">
        {texts.feedback.send}
      </button>
    </form>
  );
}
