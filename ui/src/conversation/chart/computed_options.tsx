import { useState } from "preact/hooks";
import { asProblem } from "../../api/problem";
import type { ChartOption, ComputedChart } from "../../api/types";
import type { Settings } from "./build";
import { Choose } from "./builder";
import { OPTION_KINDS, type OptionKind, optionOf } from "./computed";
import type { Chart } from "./intent";
import { optionTexts } from "./option_texts";

const OF_THE_COLUMNS = ["across", "values", "series", "time"];
const MOST_PERIODS = 366;

interface From {
  chart: Chart | null;
  settings: Settings;
  computed: ComputedChart | null;
  compute: ((option: ChartOption | null) => Promise<void>) | null;
}

export interface Options {
  /** Why the last choice cannot be computed; empty if it was. */
  refusal: string;
  choose: (kind: OptionKind | null, window?: number | null) => void;
  /** After other choices of the chart: what is computed follows the columns, and ends with another mark. */
  follow: (changed: string[], settings: Settings) => void;
}

export function useOptions({ chart, settings, computed, compute }: From): Options {
  const [refusal, refuse] = useState("");
  const run = async (option: ChartOption | null) => {
    refuse("");
    try {
      await compute?.(option);
    } catch (error) {
      refuse(asProblem(error).detail);
    }
  };
  const choose = (kind: OptionKind | null, window: number | null, of: Settings) =>
    void run(kind && optionOf(kind, of, chart?.adds === true, window));
  return {
    refusal: refusal || (computed?.refusal ?? ""),
    choose: (kind, window = null) => choose(kind, window, settings),
    follow: (changed, next) => {
      if (!computed || !compute) return;
      if (changed.includes("mark")) choose(null, null, next);
      else if (changed.some((each) => OF_THE_COLUMNS.includes(each)))
        choose(computed.option.kind, computed.option.window ?? null, next);
    },
  };
}

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
