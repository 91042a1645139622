import type { AnswerVersion } from "../../api/types";
import { moment } from "../../shared/time";
import type { Answer } from "../model";
import { sqlTexts } from "./texts";

interface Shown {
  answer: Answer;
  /** Undefined for the answer's own statement. */
  shown: AnswerVersion | undefined;
  show: (number: number) => void;
}

/** Chooses between the answer's own statement and those that came after it. */
export default function VersionSwitch({ answer, shown, show }: Shown) {
  return (
    <div class="versions" role="group" aria-label={sqlTexts.versions}>
      {[1, ...answer.versions.map(({ number }) => number)].map((number) => (
        <button
          type="button"
          class="button small"
          key={number}
          aria-pressed={number === (shown?.number ?? 1)}
          aria-label={sqlTexts.version(number)}
          onClick={() => show(number)}
        >
          v{number}
        </button>
      ))}
      <span class="quiet">{shown ? laterVersion(answer, shown) : sqlTexts.ownVersion}</span>
    </div>
  );
}

function laterVersion({ sql }: Answer, version: AnswerVersion): string {
  const { sameAgain, laterVersion } = sqlTexts;
  return (version.sql === sql ? sameAgain : laterVersion)(moment(version.created_at));
}
