import type { ChartChoice } from "../../api/types";
import { isNumeric } from "../rows/format";
import { chartFormTexts as words } from "./chart_form_texts";
import { ComputedFields } from "./computed_fields";
import { type Aggregate, Choose, ChooseColumn, indices, kept, type ShownFields } from "./fields";

type Named<Key extends keyof ChartChoice> = NonNullable<ChartChoice[Key]>;
type Flag = "share" | "facet" | "labels";

const AUTO = "";
const FLAGS: Flag[] = ["share", "labels", "facet"];

/** The choices that fewer readers need. */
export function MoreFields(shown: ShownFields) {
  const { plan, columns, choice, change } = shown;
  const [first, second] = plan.values;
  const numbers = indices(columns, isNumeric).filter((at) => at !== first?.column);
  const isTimed = plan.time !== null;
  const setFirst = (how: string) =>
    first &&
    change({
      values: [
        kept({ column: first.column, how: how === AUTO ? null : how }),
        ...plan.values.slice(1).map(kept),
      ],
    });
  const setSecond = (column: number) =>
    first && change({ values: [kept(first), ...(column < 0 ? [] : [{ column, how: null }])] });
  return (
    <>
      <Choose
        name={words.how}
        value={choice.values?.[0]?.how ?? AUTO}
        of={[AUTO, ...Object.keys(words.aggregates)]}
        label={(how) => (how === AUTO ? words.auto : words.aggregates[how as Aggregate])}
        choose={setFirst}
      />
      {numbers.length > 0 && (
        <ChooseColumn
          name={words.second}
          value={second?.column ?? -1}
          of={[-1, ...numbers]}
          columns={columns}
          choose={setSecond}
        />
      )}
      {isTimed ? (
        <Choose
          name={words.time}
          value={choice.time ?? plan.time ?? AUTO}
          of={Object.keys(words.times)}
          label={(unit) => words.times[unit as Named<"time">]}
          choose={(unit) => change({ time: unit as Named<"time"> })}
        />
      ) : (
        <>
          <Choose
            name={words.sort}
            value={choice.sort ?? plan.sort ?? "rows"}
            of={Object.keys(words.sorts)}
            label={(sort) => words.sorts[sort as Named<"sort">]}
            choose={(sort) => change({ sort: sort as Named<"sort"> })}
          />
          <label>
            {words.limit}
            <input
              type="number"
              min={1}
              max={100}
              value={choice.limit ?? plan.limit ?? ""}
              onChange={({ currentTarget: { value, validity } }) =>
                validity.valid && change({ limit: value === "" ? null : Number(value) })
              }
            />
          </label>
        </>
      )}
      {isTimed && <ComputedFields computed={choice.computed ?? null} change={change} />}
      <Writing {...shown} />
    </>
  );
}

/** How the picture is dressed: numbers, unit, colour, labels, title. */
function Writing({ choice, change }: ShownFields) {
  return (
    <>
      <Choose
        name={words.format}
        value={choice.format ?? "auto"}
        of={Object.keys(words.formats)}
        label={(format) => words.formats[format as Named<"format">]}
        choose={(format) => change({ format: format as Named<"format"> })}
      />
      <label>
        {words.unit}
        <input
          size={6}
          maxLength={12}
          value={choice.unit ?? ""}
          placeholder={words.unitHint}
          onChange={({ currentTarget }) => change({ unit: currentTarget.value || null })}
        />
      </label>
      <label>
        {words.color}
        <input
          type="color"
          value={choice.color ?? "#0f7f7d"}
          onChange={({ currentTarget }) => change({ color: currentTarget.value })}
        />
      </label>
      {FLAGS.map((flag) => (
        <label key={flag} class="chart-flag">
          <input
            type="checkbox"
            checked={choice[flag] ?? false}
            onChange={({ currentTarget }) => change({ [flag]: currentTarget.checked || null })}
          />
          {words.flags[flag]}
        </label>
      ))}
      <label class="chart-title">
        {words.title}
        <input
          maxLength={200}
          value={choice.title ?? ""}
          onChange={({ currentTarget }) => change({ title: currentTarget.value || null })}
        />
      </label>
    </>
  );
}
