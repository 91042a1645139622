import { BadgeCheck, FlaskConical } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { findProposal, testExample, verifyExample } from "../../api/client";
import { asProblem } from "../../api/problem";
import { connectionOf } from "../../connections/connections";
import { mayChange } from "../../identity/me";
import { askAgain } from "../../provenance/verified";
import { Icon } from "../../shared/icon";
import { orSay } from "../../shared/or_say";
import { texts } from "../../shared/texts";
import { count, duration } from "../../shared/time";
import { say } from "../../shared/toasts";
import { keepTexts } from "./texts";
import "./keep_example.css";

interface Proposal {
  id: string;
  question: string;
  sql: string;
}

interface Shown {
  connectionId: string;
  messageId: string;
  onClose: () => void;
}

/** Offers to keep a liked answer as a verified example, or says that it waits for a review. */
export default function KeepExample({ connectionId, messageId, onClose }: Shown) {
  const [proposal, setProposal] = useState<Proposal | null>(null);
  const [tested, setTested] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const words = keepTexts;
  const isAllowed = mayChange(connectionOf(connectionId));
  useEffect(() => {
    if (isAllowed) orSay(findProposal(connectionId, messageId).then(setProposal));
  }, [isAllowed, connectionId, messageId]);
  if (!isAllowed) return <p class="keep-example quiet">{words.sent}</p>;
  if (proposal === null) return null;
  const change = (part: Partial<Proposal>) => {
    setProposal({ ...proposal, ...part });
    setTested(null);
  };
  const during = (work: Promise<void>) => {
    setBusy(true);
    orSay(work.finally(() => setBusy(false)));
  };
  const test = async () => {
    try {
      const { row_count, elapsed_ms } = await testExample(proposal.id, proposal.sql);
      setTested(words.ran(count(row_count), duration(elapsed_ms)));
    } catch (error) {
      setTested(asProblem(error).detail);
    }
  };
  const verify = async () => {
    await verifyExample(proposal.id, proposal.question.trim(), proposal.sql.trim());
    askAgain(connectionId);
    say(words.verified);
    onClose();
  };
  const isFilled = proposal.question.trim() !== "" && proposal.sql.trim() !== "";
  return (
    <section class="keep-example form" aria-label={words.title}>
      <h3>{words.title}</h3>
      <label>
        {words.question}
        <input
          maxLength={2_000}
          value={proposal.question}
          onInput={(event) => change({ question: event.currentTarget.value })}
        />
      </label>
      <label>
        {texts.answer.sql}
        <textarea
          class="code"
          rows={Math.min(10, proposal.sql.split("\n").length + 1)}
          value={proposal.sql}
          onInput={(event) => change({ sql: event.currentTarget.value })}
        />
      </label>
      <div class="problem-actions">
        <button
          type="button"
          class="button small"
          disabled={busy || !isFilled}
          onClick={() => during(test())}
        >
          <Icon of={FlaskConical} size={14} /> {words.test}
        </button>
        <button
          type="button"
          class="button small primary"
          disabled={busy || !isFilled}
          onClick={() => during(verify())}
        >
          <Icon of={BadgeCheck} size={14} /> {words.verify}
        </button>
        <button type="button" class="button small" onClick={onClose}>
          {words.later}
        </button>
        <span class="quiet" role="status">
          {tested}
        </span>
      </div>
    </section>
  );
}
