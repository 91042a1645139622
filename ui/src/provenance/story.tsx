import { BadgeCheck, CircleHelp, Pencil, Sigma, Terminal, TriangleAlert, Check as CheckIcon } from "lucide";
import { useState } from "preact/hooks";
import { countSteps, giveFeedback } from "../api/client";
import { asProblem } from "../api/problem";
import type { Provenance, ResultCheck, StepCounts } from "../api/types";
import { Icon } from "../shared/icon";
import { onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { count, moment } from "../shared/time";
import { say } from "../shared/toasts";
import { KnowledgeList } from "./knowledge_list";
import { QueryView } from "./query_view";
import { hideProvenance, type ShownProvenance, tabWanted } from "./shown";
import { provenanceTexts } from "./texts";

interface Shown {
  made: Provenance;
  shown: ShownProvenance;
}

/** The way from the question to the rows, in numbered steps, and the checks of the rows. */
export function Story({ made, shown }: Shown) {
  const t = provenanceTexts;
  const { queries } = made;
  const [counts, setCounts] = useState<StepCounts["items"] | "counting" | null>(null);
  const { connectionId } = shown;
  const countRows = async () => {
    if (!connectionId) return;
    setCounts("counting");
    try {
      setCounts((await countSteps(connectionId, made.sql)).items);
    } catch (error) {
      setCounts(null);
      say(asProblem(error).detail);
    }
  };
  return (
    <>
      <ol class="made-steps">
        <li>
          <h3>{t.question}</h3>
          <p>{made.question}</p>
          {shown.exchange.answer.versions.length > 0 && <p class="quiet">{t.version(shown.version ?? 1)}</p>}
          {made.standalone_question && (
            <p class="quiet">
              {texts.answer.standalone} {made.standalone_question}
            </p>
          )}
        </li>
        <li>
          <h3>{t.knew}</h3>
          <KnowledgeList made={made} shown={shown} />
        </li>
        {queries.length === 0 && (
          <li>
            <h3>{t.reads}</h3>
            <p>{t.unreadable}</p>
            <pre class="made-sql">{made.sql}</pre>
          </li>
        )}
        {queries.map((query) => (
          <QueryView
            key={query.id}
            query={query}
            made={made}
            column={shown.column}
            counts={Array.isArray(counts) ? counts.filter((each) => each.query === query.id) : []}
          />
        ))}
        <li>
          <h3>{t.gives}</h3>
          <p>
            {made.row_count === null ? t.noRows : t.rows(made.row_count, count(made.row_count))}
            {" · "}
            {t.asOf(moment(made.answered_at))}
          </p>
          {connectionId && queries.length > 0 && !Array.isArray(counts) && (
            <button
              type="button"
              class="button small"
              disabled={counts === "counting"}
              onClick={() => void countRows()}
            >
              <Icon of={Sigma} size={14} /> {counts === "counting" ? `${t.counting} …` : t.countRows}
            </button>
          )}
        </li>
      </ol>
      {made.checks.length > 0 && (
        <section class="made-checks">
          <h3>{t.checks}</h3>
          <ul>
            {made.checks.map((check) => (
              <CheckLine key={check.text} check={check} />
            ))}
          </ul>
        </section>
      )}
      <Actions shown={shown} />
    </>
  );
}

const MARKS = { passed: CheckIcon, warning: TriangleAlert, unknown: CircleHelp };

function CheckLine({ check }: { check: ResultCheck }) {
  return (
    <li class={check.state}>
      <Icon of={MARKS[check.state]} size={15} />
      <span>
        <span class="visually-hidden">{provenanceTexts.states[check.state]}: </span>
        {check.text}
      </span>
    </li>
  );
}

function Actions({ shown }: { shown: ShownProvenance }) {
  const t = provenanceTexts;
  const { exchange, sessionId, connectionId, version } = shown;
  const [verified, setVerified] = useState(exchange.answer.feedback?.rating === "up");
  const openSql = () => {
    tabWanted.value = { exchange: exchange.key, tab: "sql", version };
    hideProvenance();
  };
  const verify = async () => {
    const { messageId } = exchange.answer;
    if (!messageId) return;
    try {
      await giveFeedback(sessionId, messageId, { rating: "up" });
      setVerified(true);
      say(t.proposed);
    } catch (error) {
      say(asProblem(error).detail);
    }
  };
  return (
    <div class="tools made-actions">
      <button type="button" class="button small" onClick={openSql}>
        <Icon of={Terminal} size={14} /> {t.openSql}
      </button>
      {connectionId && (
        <a class="button small" href={`/connections/${connectionId}`} onClick={onLinkClick}>
          <Icon of={Pencil} size={14} /> {t.correct}
        </a>
      )}
      {version === undefined && (
        <button type="button" class="button small" disabled={verified} onClick={() => void verify()}>
          <Icon of={BadgeCheck} size={14} /> {t.verify}
        </button>
      )}
    </div>
  );
}
