import { useEffect } from "preact/hooks";
import { answersByModel, knowCapabilities } from "../shared/capability";
import { onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";

/** Says before the first question that no model is connected, and what that means. */
export function WriterSign() {
  useEffect(knowCapabilities, []);
  if (answersByModel.value !== false) return null;
  const { builtIn, simple, connect, connectHint } = texts.writer;
  return (
    <span class="writer-sign">
      <span title={connectHint}>{builtIn}</span>
      <span class="writer-more">
        {" "}
        · {simple} ·{" "}
        <a href="/settings" title={connectHint} onClick={onLinkClick}>
          {connect}
        </a>
      </span>
    </span>
  );
}
