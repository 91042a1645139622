import { BadgeCheck, FlaskConical, X } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { testExample } from "../api/client";
import { asProblem } from "../api/problem";
import type { Example, ExampleRun, Problem, Row } from "../api/types";
import { connectionOf } from "../connections/connections";
import { SampleTable } from "../connections/sample_rows";
import { Analysis } from "../conversation/analysis/analysis";
import { Icon } from "../shared/icon";
import { orSay } from "../shared/or_say";
import { ProblemBox } from "../shared/problem_box";
import { SqlText } from "../shared/sql_text";
import { duration, moment } from "../shared/time";
import { say } from "../shared/toasts";
import { changeEntry, listProposals } from "./knowledge";
import { reviewTexts as words } from "./texts";
import "./knowledge.css";
import "./review_queue.css";

type Review = "verified" | "rejected";

interface Shown {
  /** Only proposals of this database. Left out: of all databases of the reader. */
  connectionId?: string;
  onReviewed?: () => void;
}

/** Proposed examples that wait for the reader: each answer beside its SQL. Nothing if none waits. */
export default function ReviewQueue({ connectionId, onReviewed }: Shown) {
  const [waiting, setWaiting] = useState<Example[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    listProposals(connectionId).then(setWaiting, (error: unknown) => setProblem(asProblem(error)));
  }, [connectionId]);
  if (problem) return <ProblemBox problem={problem} />;
  if (waiting.length === 0) return null;
  const review = async (example: Example, status: Review) => {
    await changeEntry("examples", example.id, { status });
    setWaiting((all) => all.filter((each) => each.id !== example.id));
    say(words[status]);
    onReviewed?.();
  };
  return (
    <section class="review-queue" aria-labelledby="reviews">
      <h2 id="reviews">{words.title(String(waiting.length))}</h2>
      <p class="quiet">{words.lead}</p>
      {waiting.map((each) => (
        <ReviewCard
          key={each.id}
          example={each}
          isOneOfSeveral={connectionId === undefined}
          onReview={(status) => review(each, status)}
        />
      ))}
    </section>
  );
}

interface Card {
  example: Example;
  /** The queue is of several databases, so the card names its own. */
  isOneOfSeveral: boolean;
  onReview: (status: Review) => Promise<void>;
}

function ReviewCard({ example, isOneOfSeveral, onReview }: Card) {
  const [busy, setBusy] = useState(false);
  const [ran, setRan] = useState<ExampleRun | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const run = () => {
    setProblem(null);
    testExample(example.id, example.sql).then(setRan, (error: unknown) => setProblem(asProblem(error)));
  };
  const review = (status: Review) => {
    setBusy(true);
    orSay(onReview(status).finally(() => setBusy(false)));
  };
  return (
    <article class="entry">
      <h3>{example.question}</h3>
      <p class="quiet">
        {isOneOfSeveral && `${connectionOf(example.db_connection_id)?.name ?? ""} · `}
        {words.askedBy(example.asked_by ?? "", moment(example.created_at))}
      </p>
      <div class="review-sides">
        <section aria-label={words.answer}>
          {example.answer ? <Analysis text={example.answer} whole /> : <p class="quiet">{words.noAnswer}</p>}
        </section>
        <section aria-label="SQL">
          <SqlText sql={example.sql} />
          {example.fault && <p class="entry-fault">{example.fault}</p>}
        </section>
      </div>
      {problem && <ProblemBox problem={problem} />}
      {ran && <Rows example={example} ran={ran} />}
      <div class="problem-actions">
        <button
          type="button"
          class="button small primary"
          disabled={busy || example.fault !== null}
          onClick={() => review("verified")}
        >
          <Icon of={BadgeCheck} size={14} /> {words.verify}
        </button>
        <button type="button" class="button small" disabled={busy} onClick={() => review("rejected")}>
          <Icon of={X} size={14} /> {words.reject}
        </button>
        <button type="button" class="button small" onClick={run}>
          <Icon of={FlaskConical} size={14} /> {words.run}
        </button>
      </div>
    </article>
  );
}

/** The rows of the statement, which the reviewer has asked for. */
function Rows({ example, ran }: { example: Example; ran: ExampleRun }) {
  return (
    <>
      <p class="quiet" role="status">
        {words.ran(ran.row_count, duration(ran.elapsed_ms), ran.rows.length)}
      </p>
      <SampleTable
        columns={ran.columns}
        rows={ran.rows as Row[]}
        label={`${words.rows}: ${example.question}`}
      />
    </>
  );
}
