import { CircleCheck, CircleHelp, CircleX } from "lucide";
import type { Finding } from "../../api/types";
import { Icon } from "../../shared/icon";
import { texts } from "../../shared/texts";
import type { Answer, ToolCall } from "../model";
import { aboutCall, toolName } from "./call_words";
import { investigates } from "../../shared/capability";
import { openCall } from "./open_call";
import "./investigation.css";

const ICONS = { checked: CircleCheck, contradicted: CircleX, not_found: CircleHelp };

/** What the investigation found, whether its results show it, and the result that each was read from. */
export function Findings({ answer }: { answer: Answer }) {
  if (answer.findings.length === 0 || !investigates.value) return null;
  const calls = (answer.investigation ?? []).flatMap((step) => step.calls);
  return (
    <section class="findings" aria-label={texts.investigation.findings}>
      <h3>{texts.investigation.findings}</h3>
      <ul>
        {answer.findings.map((finding, index) => (
          <FindingView
            key={index}
            finding={finding}
            call={calls.find((each) => each.id === finding.result_id)}
          />
        ))}
      </ul>
    </section>
  );
}

function FindingView({ finding, call }: { finding: Finding; call: ToolCall | undefined }) {
  const { claim, value, status, how, result_id } = finding;
  const { statuses, noSuchResult, sources, openResult } = texts.investigation;
  const source = [value, how && `${sources[status]} ${how}`].filter(Boolean).join(" · ");
  return (
    <li class={status}>
      <span class="finding-status">
        <Icon of={ICONS[status]} size={14} /> {result_id === null ? noSuchResult : statuses[status]}
      </span>
      <p>{claim}</p>
      {source && <p class="quiet">{source}</p>}
      {call && (
        <button type="button" class="link" onClick={() => openCall(call.id)}>
          {openResult(aboutCall(call) || toolName(call))}
        </button>
      )}
    </li>
  );
}
