import { CircleOff } from "lucide";
import { readCapabilities } from "../api/client";
import { useRead } from "../settings/read";
import { Icon } from "../shared/icon";
import { ProblemBox } from "../shared/problem_box";
import { onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { offTexts } from "./texts";

/** In place of what is switched off: why it is, and what switches it on. */
export function SwitchedOff({ what }: { what: "investigations" | "rules" }) {
  const { answer, problem, again } = useRead(readCapabilities);
  if (problem) return <ProblemBox problem={problem} onRetry={again} />;
  if (answer === null) return <p class="quiet">{texts.loading} …</p>;
  const { needModel, why, connect, isOff, settings } = offTexts;
  return (
    <div class="problem neutral">
      <Icon of={CircleOff} size={18} />
      <div>
        <strong>{(answer.model.on ? isOff : needModel)[what]}</strong>
        {answer.model.on ? (
          <p>{answer[what].reason}</p>
        ) : (
          <>
            <p>{why[what]}</p>
            <p>{connect}</p>
          </>
        )}
        <div class="problem-actions">
          <a class="button small" href="/settings" onClick={onLinkClick}>
            {settings}
          </a>
        </div>
      </div>
    </div>
  );
}
