import { useMemo } from "preact/hooks";
import { type Answer, isUnderWay } from "../model";
import { Analysis } from "./analysis";
import { withoutNotice } from "./notice";
import type { FindOrigin } from "./sources";

interface Shown {
  answer: Answer;
  origin: FindOrigin;
}

/** The first statement in a few words, and below it what a reader must know of the whole. */
export function Headline({ answer, origin }: Shown) {
  const { headline, references } = answer;
  const [first] = references;
  const sources = useMemo(
    () => (first && headline ? [{ ...first, span: [0, Array.from(headline).length] }] : []),
    [headline, first],
  );
  const [notice] = useParts(answer);
  if (!headline && !notice) return null;
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
  return (
    <div class="reading">
      <Analysis text={text} whole={whole} references={references} origin={origin} />
      {answer.left_out.length > 0 && <p class="quiet left-out">{answer.left_out.join(" ")}</p>}
    </div>
  );
}

/** The notice of an answer with a picture, the rest of its text, and the references of the rest. The text of an
 * investigation stays whole: it is read while it is written, and nothing is taken out of it then. */
function useParts({ analysis, references, investigation }: Answer) {
  return useMemo((): ReturnType<typeof withoutNotice> => {
    const isInvestigated = investigation?.length !== 0;
    return isInvestigated ? ["", analysis, references] : withoutNotice(analysis, references);
  }, [analysis, references, investigation]);
}
