import { ChevronRight } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AnswerVersion } from "../api/types";
import { tabWanted } from "../provenance/shown";
import { Icon } from "../shared/icon";
import { lazy } from "../shared/lazy";
import { SqlText } from "../shared/sql_text";
import { texts } from "../shared/texts";
import type { Conversation } from "./conversation";
import { type Exchange, isUnderWay, shownSql } from "./model";
import type { SqlShown } from "./sql/sql_panel";
import { Steps } from "./steps/timeline";

const EditQuestion = lazy(() => import("./edit_question"));
const SqlPanel = lazy(
  () => import("./sql/sql_panel"),
  ({ exchange: { answer }, version }: SqlShown) => (
    <SqlText key={answer.sql_pretty} sql={version?.sql_pretty ?? shownSql(answer)} />
  ),
);

interface Shown {
  exchange: Exchange;
  conversation: Conversation;
  /** Undefined for the answer's own statement. */
  version: AnswerVersion | undefined;
}

/** What proves the answer, folded: its SQL, its steps, and how the question was understood. */
export function Folds({ exchange, conversation, version }: Shown) {
  const { answer } = exchange;
  const isOwn = exchange.sql !== undefined;
  return (
    <div class="folds">
      <SqlFold exchange={exchange} conversation={conversation} version={version} />
      <Steps answer={answer} sessionId={conversation.sessionId} given={isOwn} />
      {(answer.explanation || answer.standalone_question) && (
        <Fold name="origin" label={texts.answer.originTitle} said={answer.explanation}>
          {answer.standalone_question && (
            <p class="understood">
              <span>{texts.answer.standalone}</span> {answer.standalone_question}
            </p>
          )}
          {answer.explanation && (
            <p class="understood">
              {!isOwn && <span>{texts.answer.understood}</span>} {answer.explanation}
              <NotMeant exchange={exchange} conversation={conversation} />
            </p>
          )}
        </Fold>
      )}
    </div>
  );
}

interface FoldShown {
  name: string;
  label: string;
  said: string;
  open?: boolean;
  onToggle?: (open: boolean) => void;
  children: ComponentChildren;
}

/** A line that opens; what is in it is made when it is first opened. */
function Fold({ name, label, said, open, onToggle, children }: FoldShown) {
  const [isOpen, setOpen] = useState(false);
  const toggle = (next: boolean) => {
    setOpen(next);
    onToggle?.(next);
  };
  return (
    <details
      class={`fold fold-${name}`}
      open={open ?? isOpen}
      onToggle={(event) => toggle(event.currentTarget.open)}
    >
      <summary>
        <Icon of={ChevronRight} />
        <b>{label}</b>
        <span>{said}</span>
      </summary>
      {(open ?? isOpen) && <div class="fold-body">{children}</div>}
    </details>
  );
}

/** The statement, also while it is written. */
export function SqlFold({ exchange, conversation, version }: Shown) {
  const [open, setOpen] = useState(false);
  const { answer } = exchange;
  const sql = version?.sql_pretty ?? shownSql(answer);
  useEffect(() => {
    const wanted = tabWanted.value;
    if (wanted?.exchange !== exchange.key || wanted.tab !== "sql") return;
    tabWanted.value = null;
    setOpen(true);
  }, [tabWanted.value]);
  if (!sql) return null;
  return (
    <Fold
      name="sql"
      label={texts.answer.sql}
      said={texts.answer.lines(sql.split("\n").length)}
      open={open}
      onToggle={setOpen}
    >
      <SqlPanel
        key={version?.number}
        exchange={exchange}
        conversation={conversation}
        version={version}
        onVersion={() => (tabWanted.value = { exchange: exchange.key, tab: "table", version: "latest" })}
      />
    </Fold>
  );
}

/** Asks the question again where KAI read it in another way than its reader. */
function NotMeant({ exchange, conversation }: Pick<Shown, "exchange" | "conversation">) {
  const [asking, ask] = useState(false);
  const { answer, sql } = exchange;
  if (sql !== undefined || isUnderWay(answer) || answer.messageId === null) return null;
  return (
    <>
      {" "}
      <button type="button" class="not-meant" onClick={() => ask(true)}>
        {texts.answer.notMeant}
      </button>
      {asking && (
        <EditQuestion
          exchange={exchange}
          conversation={conversation}
          reading={answer.explanation}
          onClose={() => ask(false)}
        />
      )}
    </>
  );
}
