import { texts } from "../../shared/texts";
import type { ToolCall } from "../model";
import { argumentsOf, wordsOf } from "./call_words";

/** Every argument of a call in full, except a statement, which is shown as SQL. */
export function Arguments({ call }: { call: ToolCall }) {
  const given = argumentsOf(call);
  if (given.length === 0) return null;
  return (
    <dl class="call-arguments" aria-label={texts.investigation.arguments}>
      {given.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{wordsOf(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
