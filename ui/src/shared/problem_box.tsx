import { CircleAlert } from "lucide";
import type { ComponentChildren } from "preact";
import type { Problem } from "../api/types";
import { Icon } from "./icon";
import { texts } from "./texts";

interface Shown {
  problem: Pick<Problem, "title" | "detail">;
  /** `notice` if there is an answer in spite of the problem. */
  tone?: "error" | "notice";
  onRetry?: (() => void) | undefined;
  children?: ComponentChildren;
}

/** A problem in the server's words, and what the user can do. */
export function ProblemBox({ problem, tone = "error", onRetry, children }: Shown) {
  return (
    <div class={`problem ${tone}`} role={tone === "error" ? "alert" : undefined}>
      <Icon of={CircleAlert} size={18} />
      <div>
        <strong>{problem.title}</strong>
        <p>{problem.detail}</p>
        {(onRetry || children) && (
          <div class="problem-actions">
            {onRetry && (
              <button type="button" class="button small" onClick={onRetry}>
                {texts.retry}
              </button>
            )}
            {children}
          </div>
        )}
      </div>
    </div>
  );
}
