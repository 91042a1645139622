import { Copy, Pencil, WandSparkles } from "lucide";
import { useState } from "preact/hooks";
import { inspectStatement } from "../../api/client";
import { asProblem } from "../../api/problem";
import { copy } from "../../shared/copy";
import { orSay } from "../../shared/or_say";
import { Icon } from "../../shared/icon";
import { lazy } from "../../shared/lazy";
import { texts } from "../../shared/texts";
import { say } from "../../shared/toasts";
import type { Conversation } from "../conversation";
import { type Exchange, isUnderWay } from "../model";
import { Reads } from "./reads";
import "./sql.css";
import { SqlText } from "../../shared/sql_text";

const SqlEditor = lazy(() => import("./sql_editor"));

/** The statement: shown while it is written; then it can be copied, formatted, edited and run again. */
export function SqlPanel({ exchange, conversation }: { exchange: Exchange; conversation: Conversation }) {
  const { answer } = exchange;
  const [editing, setEditing] = useState(false);
  const [laidOut, setLaidOut] = useState<string | null>(null);
  const shown = laidOut ?? answer.sql;
  const connectionId = conversation.session.value?.db_connection_id;
  const layOut = async () => {
    try {
      if (connectionId) setLaidOut((await inspectStatement(connectionId, shown)).sql);
    } catch (error) {
      say(asProblem(error).detail);
    }
  };
  if (editing && connectionId) {
    const run = (sql: string) => {
      setEditing(false);
      conversation.ask(exchange.question, sql);
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
      <SqlText sql={shown} />
      <Corrections sentences={answer.corrections} />
      {answer.sqlWhole && (
        <div class="tools">
          <button type="button" class="button small" onClick={() => orSay(copy(shown, texts.copied))}>
            <Icon of={Copy} size={14} /> {texts.sql.copy}
          </button>
          <button type="button" class="button small" onClick={() => void layOut()}>
            <Icon of={WandSparkles} size={14} /> {texts.sql.format}
          </button>
          {!isUnderWay(answer) && (
            <button type="button" class="button small" onClick={() => setEditing(true)}>
              <Icon of={Pencil} size={14} /> {texts.sql.edit}
            </button>
          )}
          {connectionId && <Reads connectionId={connectionId} sql={answer.sql} />}
        </div>
      )}
    </div>
  );
}

/** The corrections of the model's statement, in one line; names between backticks are shown as code. */
function Corrections({ sentences }: { sentences: string[] }) {
  if (sentences.length === 0) return null;
  const parts = sentences.join(" ").split("`");
  return (
    <p class="corrections">
      <span>{texts.sql.corrected}</span>{" "}
      {parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </p>
  );
}
