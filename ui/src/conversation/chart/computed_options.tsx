import type { ComputedChart } from "../../api/types";
import { Choose } from "./builder";
import { OPTION_KINDS } from "./computed";
import { optionTexts } from "./option_texts";
import type { Options } from "./use_options";

const MOST_PERIODS = 366;

/** What to compute, and of a moving average of how many periods. */
export function ComputedOptions({ computed, options }: { computed: ComputedChart | null; options: Options }) {
  const kind = computed?.option.kind ?? "";
  return (
    <>
      <Choose
        name={optionTexts.name}
        value={kind}
        of={["", ...OPTION_KINDS] as const}
        label={(each) => (each === "" ? optionTexts.none : optionTexts.kinds[each])}
        choose={(each) => options.choose(each === "" ? null : each)}
      />
      {kind === "moving_average" && (
        <label>
          {optionTexts.window}
          <input
            type="number"
            min={2}
            max={MOST_PERIODS}
            value={computed?.option.window ?? ""}
            placeholder={optionTexts.windowHint}
            onChange={({ currentTarget: { value, validity } }) => {
              if (validity.valid) options.choose(kind, value === "" ? null : Number(value));
            }}
          />
        </label>
      )}
    </>
  );
}
