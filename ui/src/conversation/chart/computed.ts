/** Options of a chart that the server computes from all rows. */
import type { ChartOption, ComputedChart } from "../../api/types";
import type { Settings } from "./build";
import { type Choice, dressed, withoutGaps } from "./choices";
import { type Chart, readChart } from "./intent";

export type OptionKind = ChartOption["kind"];
export const OPTION_KINDS: readonly OptionKind[] = ["moving_average", "change", "outliers", "projection"];

/** The option of a kind for a chart with these settings; `adds` says whether its values may be added up. */
export function optionOf(
  kind: OptionKind,
  { across, values, series, time }: Settings,
  adds: boolean,
  window: number | null,
): ChartOption {
  const [first] = values;
  const chosen = first?.how === "none" ? undefined : first?.how;
  const together = adds ? "sum" : "mean";
  return {
    kind,
    across,
    value: first?.column ?? 0,
    unit: time ?? null,
    how: series === null ? (chosen ?? together) : null,
    window: kind === "moving_average" ? window : null,
  };
}

/** The chart with what was computed, if that is of the columns and the unit of time that are chosen. */
export function computedChart(
  computed: ComputedChart | null,
  { across, values, series, time }: Settings,
  choice: Choice,
): Chart | null {
  if (!computed?.chart) return null;
  const { option } = computed;
  const [first] = values;
  const fits =
    option.across === across &&
    option.value === first?.column &&
    (option.unit ?? null) === (time ?? null) &&
    (first.how === undefined || first.how === "none" || first.how === option.how) &&
    series === null &&
    values.length === 1;
  const chart = fits ? readChart(computed.chart) : null;
  const own = withoutGaps({ format: choice.format, unit: choice.unit, title: choice.title });
  return chart && dressed({ ...chart, computed: true }, own);
}
