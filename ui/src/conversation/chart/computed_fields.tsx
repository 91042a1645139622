import type { ChartChoice } from "../../api/types";
import { chartFormTexts as words } from "./chart_form_texts";
import { Choose, type ShownFields } from "./fields";

type Computed = NonNullable<ChartChoice["computed"]>;

const NOTHING = "";
const MOST_PERIODS = 366;

interface Shown {
  computed: Computed | null;
  change: ShownFields["change"];
}

/** What to compute, and of a moving average of how many periods. */
export function ComputedFields({ computed, change }: Shown) {
  const kind = computed?.kind ?? NOTHING;
  const choose = (each: string) =>
    change({ computed: each === NOTHING ? null : { kind: each as Computed["kind"], window: null } });
  return (
    <>
      <Choose
        name={words.compute}
        value={kind}
        of={[NOTHING, ...Object.keys(words.computed)]}
        label={(each) => (each === NOTHING ? words.nothing : words.computed[each as Computed["kind"]])}
        choose={choose}
      />
      {computed?.kind === "moving_average" && (
        <label>
          {words.window}
          <input
            type="number"
            min={2}
            max={MOST_PERIODS}
            value={computed.window ?? ""}
            placeholder={words.windowHint}
            onChange={({ currentTarget: { value, validity } }) =>
              validity.valid &&
              change({ computed: { ...computed, window: value === "" ? null : Number(value) } })
            }
          />
        </label>
      )}
    </>
  );
}
