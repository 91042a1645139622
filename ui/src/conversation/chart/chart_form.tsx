import { Braces, RotateCcw, Undo2 } from "lucide";
import { useState } from "preact/hooks";
import type { ChartChoice, Column } from "../../api/types";
import { Icon } from "../../shared/icon";
import { orSay } from "../../shared/or_say";
import { say } from "../../shared/toasts";
import { mayManage } from "../../identity/me";
import { AsJson } from "./as_json";
import type { Changes } from "./chart_tools";
import { keepRule } from "./chart_rule";
import { chartFormTexts } from "./chart_form_texts";
import { Fields } from "./fields";
import { MoreFields } from "./more_fields";
import { planOf, type Spec } from "./spec";
import { type Changing, useChanges } from "./use_changes";

interface Shown {
  spec: Spec | null;
  columns: Column[];
  choice: ChartChoice | null;
  changes: Changes;
}

/** Changes of a chart: in words, by a form, or as a specification of the reader's own. Fetched when opened. */
export default function ChartForm({ spec, columns, choice, changes }: Shown) {
  const changing = useChanges(choice, changes);
  const { connectionId } = changes;
  const keep =
    mayManage.value && connectionId ? (words: string) => keepRule(connectionId, words, columns) : null;
  const [asJson, write] = useState(false);
  const plan = planOf(spec);
  const fields = { plan, columns, choice: choice ?? {}, change: changing.change };
  return (
    <section class="chart-form" aria-label={chartFormTexts.name} aria-busy={changing.busy}>
      <InWords changing={changing} keep={keep} />
      <div class="chart-fields">
        <Fields {...fields} />
      </div>
      <details>
        <summary>{chartFormTexts.more}</summary>
        <div class="chart-fields">
          <MoreFields {...fields} />
        </div>
      </details>
      {asJson && <AsJson plan={plan} columns={columns} choice={choice} write={changing.write} />}
      {changing.reply && (
        <p class="chart-refusal" role="status">
          {changing.reply}
        </p>
      )}
      <div class="chart-form-foot">
        <button type="button" class="button small" disabled={!changing.canUndo} onClick={changing.undo}>
          <Icon of={Undo2} size={15} /> {chartFormTexts.undo}
        </button>
        <button type="button" class="button small" disabled={choice === null} onClick={changing.reset}>
          <Icon of={RotateCcw} size={15} /> {chartFormTexts.reset}
        </button>
        <button type="button" class="button small" aria-expanded={asJson} onClick={() => write(!asJson)}>
          <Icon of={Braces} size={15} /> {chartFormTexts.asJson}
        </button>
      </div>
    </section>
  );
}

interface Wish {
  changing: Changing;
  /** Null if the reader may make no rule of the words. */
  keep: ((words: string) => Promise<void>) | null;
}

/** A wish in the reader's own words, which may become a rule once it is fulfilled. */
function InWords({ changing, keep }: Wish) {
  const [words, write] = useState("");
  const [fulfilled, note] = useState("");
  const send = (event: Event) => {
    event.preventDefault();
    const wish = words.trim();
    if (wish)
      void changing.say(wish).then((isDone) => {
        note(isDone ? wish : "");
        if (isDone) write("");
      });
  };
  const always = () => {
    if (keep) orSay(keep(fulfilled).then(() => say(chartFormTexts.kept)));
    note("");
  };
  return (
    <form class="chart-words" onSubmit={send}>
      <label>
        {chartFormTexts.words}
        <input
          value={words}
          maxLength={500}
          placeholder={chartFormTexts.wordsHint}
          onInput={(event) => write(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button small" disabled={changing.busy || !words.trim()}>
        {chartFormTexts.apply}
      </button>
      {keep && fulfilled && (
        <button type="button" class="button small" onClick={always}>
          {chartFormTexts.always(fulfilled)}
        </button>
      )}
    </form>
  );
}
