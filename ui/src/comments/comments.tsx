import { MessageSquareText } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../shared/icon";
import { lazy } from "../shared/lazy";
import type { Thing } from "./comments_api";
import { counts, knowCounts } from "./counts";
import { openerTexts } from "./opener_texts";

const Thread = lazy(() => import("./thread"));

interface Shown {
  thing: Thing;
  /** Session of an own answer, whose comments are counted before they are opened. */
  sessionId?: string;
}

/** Opens the comments on an answer or a board. */
export default function Comments({ thing, sessionId }: Shown) {
  const [open, show] = useState(false);
  useEffect(() => {
    if (sessionId !== undefined) knowCounts(sessionId);
  }, [sessionId]);
  const number = counts.value.get(thing.thingId) ?? 0;
  return (
    <div class="comments" style={{ marginTop: "0.6rem" }}>
      <button type="button" class="button small" aria-expanded={open} onClick={() => show(!open)}>
        <Icon of={MessageSquareText} size={15} />{" "}
        {number > 0 ? openerTexts.titled(number) : openerTexts.title}
      </button>
      {open && <Thread thing={thing} />}
    </div>
  );
}
