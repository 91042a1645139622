import { bytes } from "../shared/bytes";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { count, moment } from "../shared/time";
import { useRead } from "./read";
import { readUsage } from "./settings_api";
import { settings } from "./texts";

const USED = ["tokens_today", "bytes_today", "runs", "sessions"] as const;

/** The reader's usage of the day, with its limits. */
export function UsageToday() {
  const { answer: usage, problem, again } = useRead(readUsage);
  if (problem) return <ProblemBox problem={problem} onRetry={again} />;
  if (usage === null) return <p class="quiet">{texts.loading} …</p>;
  return (
    <>
      {USED.map((each) => {
        const { used, limit } = usage[each];
        const say = each === "bytes_today" ? bytes : count;
        const shown = limit === null ? say(used) : settings.of(say(used), say(limit));
        return (
          <p class="setting" key={each}>
            {settings.used[each]}
            <span>
              {limit !== null && <meter aria-label={settings.used[each]} max={limit} value={used} />} {shown}
            </span>
          </p>
        );
      })}
      {(usage.tokens_today.limit ?? usage.bytes_today.limit) !== null && (
        <p class="quiet">{settings.again(moment(usage.tokens_today.resets_at))}</p>
      )}
    </>
  );
}
