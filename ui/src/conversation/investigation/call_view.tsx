import { Check, CirclePause, CircleSlash, CircleX, LoaderCircle } from "lucide";
import { useState } from "preact/hooks";
import { Elapsed } from "../../shared/elapsed";
import { Icon } from "../../shared/icon";
import { SqlText } from "../../shared/sql_text";
import { texts } from "../../shared/texts";
import { duration } from "../../shared/time";
import type { ToolCall } from "../model";
import type { Conversation } from "../conversation";
import type { Exchange } from "../model";
import { Arguments } from "./arguments";
import { aboutCall, isStatement, toolName } from "./call_words";
import { ConfirmationCard } from "./confirmation_card";
import { anchorOf } from "./open_call";
import { ProgressBar } from "./progress_bar";
import { HeadRows, ResultRows } from "./result_rows";
import { confirmationTexts } from "./texts";

interface Shown {
  call: ToolCall;
  /** The result's name, by which the model refers to it. */
  name: string;
  exchange: Exchange;
  conversation: Conversation;
  /** When the calls of this step began; null if none of them can still be running. */
  since: number | null;
}

/** A call in one line: the tool, what it was called with, its state and time. It opens to its result. */
export function CallView(shown: Shown) {
  const { call, name, since, exchange, conversation } = shown;
  const [open, setOpen] = useState(false);
  const state = stateOf(call, since);
  return (
    <li class={`call ${state}`}>
      <details id={anchorOf(call.id)} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <StateIcon state={state} />
          <span class="call-tool">{toolName(call)}</span>
          <span class="call-about">{aboutCall(call)}</span>
          <span class={state === "done" ? "visually-hidden" : "call-state"}>
            {texts.investigation.states[state]}
          </span>
          <span class="step-time">
            {state === "running" && since !== null ? <Elapsed since={since} /> : timeOf(call)}
          </span>
          <code>{name}</code>
        </summary>
        {open && <CallBody {...shown} />}
      </details>
      {state === "running" && call.progress && <ProgressBar {...call.progress} />}
      {state === "waiting" && call.confirmation && (
        <ConfirmationCard
          call={call}
          confirmation={call.confirmation}
          exchange={exchange}
          conversation={conversation}
        />
      )}
    </li>
  );
}

type State = keyof typeof texts.investigation.states;

/** A call without a result is running, or its run has ended before it. */
function stateOf(call: ToolCall, since: number | null): State {
  return call.status === "running" && since === null ? "unfinished" : call.status;
}

function StateIcon({ state }: { state: State }) {
  const refused = {
    denied: CircleSlash,
    expired: CircleSlash,
    withdrawn: CircleSlash,
    unfinished: CircleSlash,
  };
  const open = { running: LoaderCircle, waiting: CirclePause, approved: LoaderCircle };
  const icons = { ...refused, ...open, done: Check, failed: CircleX, unknown: CircleX };
  return (
    <span class={state === "running" ? "turning" : "call-mark"}>
      <Icon of={icons[state]} size={14} />
    </span>
  );
}

const timeOf = (call: ToolCall) => call.elapsedMs !== null && duration(call.elapsedMs);

function CallBody({ call, name, exchange, conversation: { sessionId } }: Shown) {
  const isSql = isStatement(call);
  const { messageId } = exchange.answer; // null while the run goes on: until its end no rows can be read
  return (
    <div class="call-body">
      {isSql && <SqlText sql={String(call.arguments["sql"])} />}
      <Arguments call={call} />
      {call.isEdited && <p class="quiet">{confirmationTexts.edited}</p>}
      {call.resultId !== null && messageId !== null ? (
        <>
          <ResultRows
            sessionId={sessionId}
            messageId={messageId}
            resultId={call.resultId}
            title={aboutCall(call) || name}
          />
          <details class="call-read">
            <summary>{texts.investigation.read}</summary>
            <Content call={call} />
          </details>
        </>
      ) : (
        <>
          {call.head && <HeadRows sessionId={sessionId} head={call.head} title={aboutCall(call) || name} />}
          <Content call={call} />
        </>
      )}
    </div>
  );
}

function Content({ call }: { call: ToolCall }) {
  if (!call.content) return <p class="quiet">{texts.investigation.noResult}</p>;
  return (
    <pre class="call-content" tabIndex={0} aria-label={texts.investigation.result}>
      {call.content}
    </pre>
  );
}
