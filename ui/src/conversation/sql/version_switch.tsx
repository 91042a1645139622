import type { AnswerVersion } from "../../api/types";
import { sqlTexts } from "./texts";

interface Shown {
  versions: AnswerVersion[];
  shown: number;
  show: (number: number) => void;
}

/** Chooses between the answer's own statement and those that came after it. */
export default function VersionSwitch({ versions, shown, show }: Shown) {
  return (
    <div class="versions" role="group" aria-label={sqlTexts.versions}>
      {[1, ...versions.map(({ number }) => number)].map((number) => (
        <button
          type="button"
          class="button small"
          key={number}
          aria-pressed={number === shown}
          aria-label={sqlTexts.version(number)}
          onClick={() => show(number)}
        >
          v{number}
        </button>
      ))}
      <span class="quiet">{shown === 1 ? sqlTexts.ownVersion : sqlTexts.laterVersion}</span>
    </div>
  );
}
