import { useEffect, useState } from "preact/hooks";
import { forgetFact, listFacts } from "../api/client";
import type { NamedFact } from "../api/types";
import type { Exchange } from "../conversation/model";
import { orSay } from "../shared/or_say";
import { onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { say } from "../shared/toasts";
import { KINDS } from "./turn";
import { turnTexts } from "./turn_texts";

/** Lines of a question that are to be remembered; the server alone decides which are. */
const DIRECTIVE = new RegExp(`^(${KINDS.join("|")})\\s*([(（][^\\n]*)?[:：]`, "im");
/** They are kept some time after the answer. */
const KEPT_MS = [500, 1_500, 4_000, 10_000, 25_000];

/** What a turn has kept, each with its undo, and why something was not kept. */
export default function KeptFromTurn({ exchange }: { exchange: Exchange }) {
  const directives = useDirectives(exchange);
  const [undone, setUndone] = useState<string[]>([]);
  const kept = [...exchange.answer.kept, ...directives].filter((each) => !undone.includes(each.id));
  const undo = async (fact: NamedFact) => {
    await forgetFact(fact.id);
    setUndone([...undone, fact.id]);
    say(turnTexts.forgotten(fact.text));
  };
  return (
    <>
      {kept.map((each) => (
        <p class="understood" key={each.id} role="status">
          <span>{turnTexts.keptNow(turnTexts.scopes[each.scope])}</span>{" "}
          <a href={`/memory#${each.id}`} onClick={onLinkClick}>
            {each.text}
          </a>{" "}
          <button type="button" class="button small" onClick={() => orSay(undo(each))}>
            {texts.undo}
          </button>
        </p>
      ))}
      {exchange.answer.refusals.map((each) => (
        <p class="understood" key={each}>
          <span>{turnTexts.notKept}</span> {each}
        </p>
      ))}
    </>
  );
}

/** The facts that this page's question has asked to remember, once they are kept. */
function useDirectives({ question, answer, kept }: Exchange): NamedFact[] {
  const [found, setFound] = useState<NamedFact[]>([]);
  const { phase, messageId } = answer;
  const wanted = phase === "complete" && !kept && messageId !== null && DIRECTIVE.test(question);
  useEffect(() => {
    if (!wanted) return;
    const look = () =>
      void listFacts({ message_id: messageId }).then(
        ({ items }) => setFound(items.filter((each) => each.source.origin === "directive")),
        () => undefined, // the page of facts shows them all the same
      );
    const timers = KEPT_MS.map((milliseconds) => setTimeout(look, milliseconds));
    return () => timers.forEach(clearTimeout);
  }, [wanted]);
  return found;
}
