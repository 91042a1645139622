import { useMemo } from "preact/hooks";
import { texts } from "../../shared/texts";
import { type Answer, isUnderWay } from "../model";
import { Analysis } from "./analysis";
import { withoutNotice } from "./notice";
import type { FindOrigin } from "./sources";

interface Shown {
  answer: Answer;
  origin: FindOrigin;
}

/** The first statement in a few words, and below it what a reader must know of the whole. */
export function Headline({ answer, origin, isLive = false }: Shown & { isLive?: boolean }) {
  const { headline, references } = answer;
  const [first] = references;
  const sources = useMemo(
    () => (first && headline ? [{ ...first, span: [0, Array.from(headline).length] }] : []),
    [headline, first],
  );
  const [notice] = useParts(answer);
  if (!headline && !notice && !isLive) return null;
  return (
    <div class="head-line">
      <Analysis text={headline ?? ""} references={sources} origin={origin} as="headline" />
      <Analysis text={notice} as="notice" />
    </div>
  );
}

/** The statements below the picture, and what was left out of them. */
export function Reading({ answer, origin }: Shown) {
  const whole = answer.analysisWhole || !isUnderWay(answer);
  const [, text, references] = useParts(answer);
  // With rows it comes at once: what is drawn of them until then moves.
  const shown = whole || answer.head === null ? text : "";
  return (
    <>
      <div class="reading">
        <Analysis text={shown} whole={whole} references={references} origin={origin} />
      </div>
      {answer.left_out.length > 0 && (
        <p class="quiet left-out">
          {texts.sources.leftOut} {answer.left_out.join(" ")}
        </p>
      )}
    </>
  );
}

/** The notice of an answer with a picture, the rest of its text, and the references of the rest. */
function useParts({ analysis, references }: Answer) {
  return useMemo(() => withoutNotice(analysis, references), [analysis, references]);
}
