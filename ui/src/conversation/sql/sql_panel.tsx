import { BadgeCheck, Copy, Pencil } from "lucide";
import { useState } from "preact/hooks";
import type { AnswerVersion } from "../../api/types";
import { addEntry } from "../../knowledge/knowledge";
import { copy } from "../../shared/copy";
import { orSay } from "../../shared/or_say";
import { Icon } from "../../shared/icon";
import { lazy } from "../../shared/lazy";
import { texts } from "../../shared/texts";
import { say } from "../../shared/toasts";
import type { Conversation } from "../conversation";
import { type Exchange, isUnderWay, shownSql } from "../model";
import { sqlTexts } from "./texts";
import "./sql.css";
import { SqlText } from "../../shared/sql_text";
import { SqlDiff } from "./sql_diff";

const SqlEditor = lazy(() => import("./sql_editor"));

export interface SqlShown {
  exchange: Exchange;
  conversation: Conversation;
  /** The version shown; undefined for the answer's own statement. */
  version: AnswerVersion | undefined;
  /** Called when a statement has become the answer's next version. */
  onVersion: () => void;
}

/** The statement: shown while it is written; then it can be copied, edited and run again. */
export default function SqlPanel({ exchange, conversation, version, onVersion }: SqlShown) {
  const { answer } = exchange;
  const [editing, setEditing] = useState(false);
  const shown = version?.sql_pretty ?? shownSql(answer);
  const connectionId = conversation.session.value?.db_connection_id;
  const keep = async ({ sql }: AnswerVersion, database: string) => {
    await addEntry("examples", database, { question: exchange.question, sql });
    say(sqlTexts.keptVersion);
  };
  if (editing && connectionId) {
    const run = async (sql: string) => {
      await conversation.addVersion(exchange, sql);
      setEditing(false);
      onVersion();
    };
    return (
      <SqlEditor
        sql={shown}
        dialect={answer.dialect}
        connectionId={connectionId}
        onRun={run}
        onCancel={() => setEditing(false)}
      />
    );
  }
  return (
    <div class="sql-panel">
      {version ? (
        <SqlDiff before={before(exchange.answer, version)} after={version.sql_pretty} />
      ) : (
        <SqlText key={answer.sql_pretty} sql={shown} />
      )}
      {!version && <Corrections sentences={answer.corrections} />}
      {answer.sqlWhole && (
        <div class="tools">
          <button type="button" class="button small" onClick={() => orSay(copy(shown, texts.copied))}>
            <Icon of={Copy} size={14} /> {sqlTexts.copy}
          </button>
          {version && connectionId && (
            <button type="button" class="button small" onClick={() => orSay(keep(version, connectionId))}>
              <Icon of={BadgeCheck} size={14} /> {sqlTexts.keepVersion(version.number)}
            </button>
          )}
          {!isUnderWay(answer) && answer.messageId && (
            <button
              type="button"
              class="button small"
              disabled={conversation.isClosed.value}
              title={conversation.isClosed.value ? texts.composer.resumeToAsk : undefined}
              onClick={() => setEditing(true)}
            >
              <Icon of={Pencil} size={14} /> {sqlTexts.edit}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

/** The statement that a version came after. */
function before(answer: Exchange["answer"], { number }: AnswerVersion): string {
  return answer.versions.find((each) => each.number === number - 1)?.sql_pretty ?? shownSql(answer);
}

/** The corrections of the model's statement, in one line; names between backticks are shown as code. */
function Corrections({ sentences }: { sentences: string[] }) {
  if (sentences.length === 0) return null;
  const parts = sentences.join(" ").split("`");
  return (
    <p class="corrections">
      <span>{sqlTexts.corrected}</span>{" "}
      {parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </p>
  );
}
