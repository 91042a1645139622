import { Check, CircleSlash, CircleX, LoaderCircle } from "lucide";
import { useState } from "preact/hooks";
import { Elapsed } from "../../shared/elapsed";
import { Icon } from "../../shared/icon";
import { SqlText } from "../../shared/sql_text";
import { texts } from "../../shared/texts";
import { duration } from "../../shared/time";
import type { ToolCall } from "../model";
import { aboutCall, argumentsOf, isStatement, toolName, wordsOf } from "./call_texts";
import { anchorOf } from "./open_call";
import { ResultRows } from "./result_rows";

interface Shown {
  call: ToolCall;
  /** The result's name, by which the model refers to it. */
  name: string;
  sessionId: string;
  /** Null while the run goes on: until its end the rows of a call cannot be read. */
  messageId: string | null;
  /** When the calls of this step began; null if none of them can still be running. */
  since: number | null;
}

/** A call in one line: the tool, what it was called with, its state and time. It opens to its result. */
export function CallView(shown: Shown) {
  const { call, name, since } = shown;
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
    </li>
  );
}

type State = keyof typeof texts.investigation.states;

/** A call without a result is running, or its run has ended before it. */
function stateOf(call: ToolCall, since: number | null): State {
  return call.status === "running" && since === null ? "unfinished" : call.status;
}

function StateIcon({ state }: { state: State }) {
  const icons = { running: LoaderCircle, done: Check, failed: CircleX, unfinished: CircleSlash };
  return (
    <span class={state === "running" ? "turning" : "call-mark"}>
      <Icon of={icons[state]} size={14} />
    </span>
  );
}

const timeOf = (call: ToolCall) => call.elapsedMs !== null && duration(call.elapsedMs);

/** Without a known fraction the bar only shows that the call goes on. */
function ProgressBar({ message, fraction }: { message: string; fraction: number }) {
  return (
    <label class="call-progress">
      <span>{message}</span>
      <progress max={1} {...(fraction >= 0 && { value: fraction })} />
    </label>
  );
}

function CallBody({ call, name, sessionId, messageId }: Shown) {
  const isSql = isStatement(call);
  return (
    <div class="call-body">
      {isSql && <SqlText sql={String(call.arguments["sql"])} />}
      <Arguments call={call} />
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
        <Content call={call} />
      )}
    </div>
  );
}

/** Every argument in full, except the statement that is shown above. */
function Arguments({ call }: { call: ToolCall }) {
  const given = argumentsOf(call);
  if (given.length === 0) return null;
  return (
    <dl aria-label={texts.investigation.arguments}>
      {given.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{wordsOf(value)}</dd>
        </div>
      ))}
    </dl>
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
