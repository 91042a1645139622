import type { ComputedChart } from "../../api/types";
import { isNumeric } from "../rows/format";
import { AGGREGATES, type Sort, SORTS } from "./aggregate";
import { isTimed, type Settings } from "./build";
import { Choose, ChooseColumn, indices, type Shown, stored } from "./builder";
import { ComputedOptions } from "./computed_options";
import { TIME_UNITS } from "./intent";
import { NUMBER_FORMATS, type NumberFormat, valueFormat } from "./numbers";
import { chartTexts } from "./texts";
import type { Options } from "./use_options";

const EXAMPLES: Partial<Record<NumberFormat, string>> = {
  compact: ` (${valueFormat({ format: "compact", unit: "" })(1_200_000)})`,
};

interface ShownMore extends Shown {
  computed: ComputedChart | null;
  /** Null where nothing can be computed. */
  options: Options | null;
}

/** The choices that fewer readers need. Fetched when first opened. */
export default function MoreChoices({ computed, options, ...shown }: ShownMore) {
  const { settings, choice, columns, rows, change } = shown;
  const [first, second] = settings.values;
  const column = first?.column ?? 0;
  const set = (values: Settings["values"]) => change({ values: values.map(stored) });
  const numbers = indices(columns, isNumeric).filter((at) => at !== column);
  const binned = settings.mark === "histogram";
  return (
    <div class="chart-options">
      {!binned && options && <ComputedOptions computed={computed} options={options} />}
      {!binned && (
        <Choose
          name={chartTexts.how}
          value={first?.how ?? ""}
          of={["", ...AGGREGATES] as const}
          label={(how) => (how === "" ? chartTexts.formats.auto : chartTexts.aggregates[how])}
          choose={(how) => set([{ column, how: how === "" ? undefined : how }, ...settings.values.slice(1)])}
        />
      )}
      {!binned && numbers.length > 0 && (
        <ChooseColumn
          name={chartTexts.second}
          value={second?.column ?? -1}
          of={settings.mark === "combo" ? numbers : [-1, ...numbers]}
          columns={columns}
          choose={(at) =>
            set([...settings.values.slice(0, 1), ...(at < 0 ? [] : [{ column: at, how: first?.how }])])
          }
        />
      )}
      {isTimed(columns[settings.across], rows, settings.across) && !binned ? (
        <Choose
          name={chartTexts.time}
          value={choice.time ?? ""}
          of={["", ...TIME_UNITS] as const}
          label={(unit) => (unit === "" ? chartTexts.asIs : chartTexts.times[unit])}
          choose={(time) => change({ time: time === "" ? undefined : time })}
        />
      ) : (
        <Choose
          name={chartTexts.sort}
          value={choice.sort ?? "rows"}
          of={SORTS}
          label={(sort) => chartTexts.sorts[sort]}
          choose={(sort: Sort) => change({ sort })}
        />
      )}
      <Choose
        name={chartTexts.format}
        value={choice.format ?? "auto"}
        of={NUMBER_FORMATS}
        label={(format) => `${chartTexts.formats[format]}${EXAMPLES[format] ?? ""}`}
        choose={(format: NumberFormat) => change({ format })}
      />
      <label>
        {chartTexts.unit}
        <input
          size={6}
          maxLength={12}
          value={choice.unit ?? ""}
          placeholder={chartTexts.unitHint}
          onChange={(event) => change({ unit: event.currentTarget.value || undefined })}
        />
      </label>
      <label class="chart-title">
        {chartTexts.title}
        <input
          maxLength={200}
          value={choice.title ?? ""}
          placeholder={shown.chart.heading}
          onChange={(event) => change({ title: event.currentTarget.value || undefined })}
        />
      </label>
    </div>
  );
}
