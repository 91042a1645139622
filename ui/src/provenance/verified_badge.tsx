import { useEffect, useState } from "preact/hooks";
import { readProvenance } from "../api/client";
import type { KnownExample } from "../api/types";
import { orSay } from "../shared/or_say";
import { texts } from "../shared/texts";
import { dateText, moment } from "../shared/time";
import { verifiedTexts } from "./verified_texts";

export interface BadgeShown {
  sessionId: string;
  /** Null until the answer is stored. */
  messageId: string | null;
}

/** Says who verified the example that gave an answer, and when, if it is still as it was then. */
export default function VerifiedBadge({ sessionId, messageId }: BadgeShown) {
  const [example, setExample] = useState<KnownExample | null>(null);
  useEffect(() => {
    if (messageId === null) return;
    const read = readProvenance(sessionId, messageId);
    orSay(read.then(({ knowledge }) => setExample(knowledge?.examples[0] ?? null)));
  }, [sessionId, messageId]);
  const by = example && !example.is_changed ? example.verified_by : null;
  const at = example?.verified_at;
  if (!by || !at) return <span class="origin verified">{texts.answer.verified}</span>;
  return (
    <span class="origin verified" title={verifiedTexts.title(by, moment(at))}>
      {verifiedTexts.by(by, dateText(at, "day"))}
    </span>
  );
}
