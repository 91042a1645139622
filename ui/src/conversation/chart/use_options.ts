import { useState } from "preact/hooks";
import { asProblem } from "../../api/problem";
import type { ChartOption, ComputedChart } from "../../api/types";
import type { Settings } from "./build";
import { type OptionKind, optionOf } from "./computed";
import type { Chart } from "./intent";

const OF_THE_COLUMNS = ["across", "values", "series", "time"];

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
