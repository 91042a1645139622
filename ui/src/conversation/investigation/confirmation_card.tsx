import { Check, Pencil, TriangleAlert, X } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../../shared/icon";
import { orSay } from "../../shared/or_say";
import { SqlText } from "../../shared/sql_text";
import { duration } from "../../shared/time";
import type { Conversation } from "../conversation";
import type { Confirmation, Exchange, ToolCall } from "../model";
import { isOfAnswer, isStatement, toolName } from "./call_words";
import { Arguments } from "./arguments";
import { EditCall } from "./edit_call";
import { confirmationTexts } from "./texts";
import { useUnsent } from "../../identity/unsent";
import "./confirmation_card.css";

interface Shown {
  call: ToolCall;
  confirmation: Confirmation;
  exchange: Exchange;
  conversation: Conversation;
}

/** A call that waits: what it will do, with what, and where. Nothing of it has run. */
export function ConfirmationCard({ call, confirmation, exchange, conversation }: Shown) {
  const { waits, destination, approve, edit, deny, reason, withdraw, label } = confirmationTexts;
  const [sending, setSending] = useState(false);
  const [why, setWhy] = useUnsent(`call ${call.id} reason`, "");
  const [editing, setEditing] = useUnsent(`call ${call.id}`, false);
  const editButton = useRef<HTMLButtonElement>(null);
  const hasEdited = useRef(false);
  useEffect(() => {
    if (hasEdited.current && !editing) editButton.current?.focus();
    hasEdited.current = editing;
  }, [editing]);
  const left = useTimeLeft(confirmation.expiresAt);
  const decide = (decision: "approve" | "deny") => {
    setSending(true);
    orSay(
      conversation
        .decide(exchange, call, {
          decision,
          ...(decision === "deny" && why.trim() && { reason: why.trim() }),
        })
        .finally(() => setSending(false)),
    );
  };
  return (
    <section class="confirmation" aria-label={label(toolName(call))}>
      <header>
        <strong>{waits}</strong>
        <span class="quiet">
          {left > 0 ? confirmationTexts.left(duration(left)) : confirmationTexts.over}
        </span>
      </header>
      {editing && <p class="quiet">{confirmationTexts.proposed}</p>}
      <p class="confirmation-what">{confirmation.description}</p>
      {!editing && isStatement(call) && <SqlText sql={String(call.arguments["sql"])} />}
      {!editing && <Arguments call={call} />}
      <p class="quiet">
        {destination} <code>{confirmation.destination}</code>
      </p>
      {confirmation.warnings.map((warning) => (
        <p class="warning" key={warning}>
          <Icon of={TriangleAlert} size={14} /> {warning}
        </p>
      ))}
      {editing ? (
        <EditCall
          call={call}
          canApprove={left > 0}
          onApprove={(edited) => conversation.decide(exchange, call, { decision: "edit", arguments: edited })}
          onClose={() => setEditing(false)}
        />
      ) : (
        <div class="confirmation-decision">
          <button
            type="button"
            class="button small primary"
            disabled={sending || left <= 0}
            onClick={() => decide("approve")}
          >
            <Icon of={Check} size={14} /> {approve}
          </button>
          {Object.keys(call.arguments).length > 0 && !isOfAnswer(call) && (
            <button
              ref={editButton}
              type="button"
              class="button small"
              disabled={sending || left <= 0}
              onClick={() => setEditing(true)}
            >
              <Icon of={Pencil} size={14} /> {edit}
            </button>
          )}
          <button type="button" class="button small" disabled={sending} onClick={() => decide("deny")}>
            <Icon of={X} size={14} /> {deny}
          </button>
          {!isOfAnswer(call) && (
            <input
              aria-label={reason}
              placeholder={reason}
              maxLength={1_000}
              value={why}
              onInput={(event) => setWhy(event.currentTarget.value)}
            />
          )}
          <button
            type="button"
            class="button small"
            disabled={sending}
            onClick={() => orSay(conversation.withdraw(exchange))}
          >
            {withdraw}
          </button>
        </div>
      )}
    </section>
  );
}

const SECOND_MS = 1_000;

/** Milliseconds until a time, updated each second; zero after it. */
function useTimeLeft(end: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, end - now);
}
