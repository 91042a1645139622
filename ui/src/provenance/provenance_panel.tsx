import { X } from "lucide";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { readProvenance } from "../api/client";
import { asProblem } from "../api/problem";
import type { Problem, Provenance } from "../api/types";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/icon";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { hideProvenance, type ShownProvenance, shownProvenance } from "./shown";
import { Story } from "./story";
import "./provenance.css";

const BESIDE = "(min-width: 1200px)";

/** How an answer was made: beside the conversation where there is room, else over it. */
export default function ProvenancePanel() {
  const shown = shownProvenance.value;
  const beside = useMedia(BESIDE);
  useEffect(() => hideProvenance, []);
  if (!shown) return null;
  const key = `${shown.exchange.key} ${shown.version ?? ""} ${shown.column ?? ""}`;
  if (beside) return <Beside key={key} shown={shown} />;
  return (
    <Dialog key={key} title={texts.provenance.title} onClose={hideProvenance}>
      <div class="provenance sheet">
        <Contents shown={shown} />
      </div>
    </Dialog>
  );
}

function Beside({ shown }: { shown: ShownProvenance }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const id = useId();
  useEffect(() => heading.current?.focus(), []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    hideProvenance();
  };
  return (
    <aside class="provenance beside" aria-labelledby={id} onKeyDown={onKeyDown}>
      <header>
        <h2 id={id} ref={heading} tabIndex={-1}>
          {texts.provenance.title}
        </h2>
        <button type="button" class="icon-button" aria-label={texts.close} onClick={hideProvenance}>
          <Icon of={X} />
        </button>
      </header>
      <div class="provenance-body" tabIndex={0} role="region" aria-labelledby={id}>
        <Contents shown={shown} />
      </div>
    </aside>
  );
}

function Contents({ shown }: { shown: ShownProvenance }) {
  const { exchange, sessionId, version } = shown;
  const { messageId } = exchange.answer;
  const [found, setFound] = useState<Provenance | Problem | null>(null);
  const load = () => {
    if (!messageId) return;
    setFound(null);
    const read = readProvenance(sessionId, messageId, version);
    read.then(setFound, (error: unknown) => setFound(asProblem(error)));
  };
  useEffect(load, [messageId]);
  if (found === null) return <p class="quiet">{texts.loading} …</p>;
  if (!("queries" in found)) return <ProblemBox problem={found} onRetry={load} />;
  return <Story made={found} shown={shown} />;
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const onChange = () => setMatches(list.matches);
    list.addEventListener("change", onChange);
    return () => list.removeEventListener("change", onChange);
  }, [query]);
  return matches;
}
