import { Copy, CircleCheck } from "lucide";
import type { Action, Code, Link } from "../../api/types";
import { copy } from "../../shared/copy";
import { Icon } from "../../shared/icon";
import { orSay } from "../../shared/or_say";
import { onLinkClick } from "../../shared/route";
import { SqlText } from "../../shared/sql_text";
import { texts } from "../../shared/texts";
import type { Conversation } from "../conversation";
import { draft } from "../draft";
import type { Exchange } from "../model";
import { useProposals } from "../proposals";
import { openCall } from "./open_call";
import { sqlTexts } from "../sql/texts";
import { pointerTexts } from "./texts";
import "./investigation.css";

interface Shown {
  exchange: Exchange;
  conversation: Conversation;
}

/** What an investigation shows beside its text: code to take along, things to look at, and what to do next. */
export default function Pointers({ exchange, conversation }: Shown) {
  const { code, link, action } = exchange.answer;
  const open = useProposals(conversation);
  const actions = action.filter((each) => open || each.action.startsWith("open_"));
  return (
    <section class="pointers" aria-label={pointerTexts.label}>
      {code.map((each, index) => (
        <CodeView key={index} code={each} />
      ))}
      {link.length > 0 && (
        <ul>
          {link.map((each, index) => (
            <li key={index}>
              <LinkView link={each} />
            </li>
          ))}
        </ul>
      )}
      {actions.length > 0 && (
        <p class="pointer-actions">
          {actions.map((each, index) => (
            <ActionView key={index} action={each} exchange={exchange} conversation={conversation} />
          ))}
        </p>
      )}
    </section>
  );
}

function CodeView({ code }: { code: Code }) {
  const { checked, unchecked } = pointerTexts;
  return (
    <figure>
      <figcaption>
        <span class="dialect">{code.language}</span>
        <span class="quiet">
          {code.checked && <Icon of={CircleCheck} size={14} />} {code.checked ? checked : unchecked}
        </span>
        <button type="button" class="button small" onClick={() => orSay(copy(code.content, texts.copied))}>
          <Icon of={Copy} size={14} /> {sqlTexts.copy}
        </button>
      </figcaption>
      {code.language === "sql" ? (
        <SqlText sql={code.content} />
      ) : (
        <pre class="sql" tabIndex={0}>
          <code>{code.content}</code>
        </pre>
      )}
    </figure>
  );
}

function LinkView({ link }: { link: Link }) {
  const { label, resource_type: kind, resource_id: id } = link;
  if (kind === "result") return <Opener label={label} callId={id} />;
  const [connection, ...table] = id.split("/");
  return <TableLink label={label} connection={connection ?? ""} table={table.join("/")} />;
}

function ActionView({ action, exchange, conversation }: { action: Action } & Shown) {
  const { label, payload } = action;
  if (action.action === "open_result") return <Opener label={label} callId={payload.result_id ?? ""} />;
  if (action.action === "open_table")
    return (
      <TableLink label={label} connection={payload.db_connection_id ?? ""} table={payload.table ?? ""} />
    );
  const words = payload.question ?? "";
  // The words may come from what the model has read: they are shown, and asked in ask mode if at all.
  const propose = () => {
    const about = { kind: "result", id: exchange.answer.messageId ?? "" } as const;
    const place = { sessionId: conversation.sessionId };
    draft.value = { words, about, label: texts.proposals.result(exchange.question), place };
  };
  return (
    <button type="button" class="button small" title={words} onClick={propose}>
      {label}
    </button>
  );
}

function Opener({ label, callId }: { label: string; callId: string }) {
  return (
    <button type="button" class="link" onClick={() => openCall(callId)}>
      {label}
    </button>
  );
}

function TableLink({ label, connection, table }: { label: string; connection: string; table: string }) {
  const part = table && `#${encodeURIComponent(table)}`;
  return (
    <a href={`/connections/${encodeURIComponent(connection)}${part}`} onClick={onLinkClick}>
      {label}
    </a>
  );
}
