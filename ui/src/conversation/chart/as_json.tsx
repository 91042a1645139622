import { useState } from "preact/hooks";
import type { ChartChoice, Column } from "../../api/types";
import { isNumeric } from "../rows/format";
import { chartFormTexts } from "./chart_form_texts";
import type { Plan, Spec } from "./spec";

interface Shown {
  plan: Plan;
  columns: Column[];
  choice: ChartChoice | null;
  write: (text: string) => void;
}

/** A specification of the reader's own over the rows, whose columns have their own names in it. */
export function AsJson({ plan, columns, choice, write }: Shown) {
  const [text, edit] = useState(() =>
    JSON.stringify(choice?.specification ?? outline(plan, columns), null, 2),
  );
  return (
    <div class="chart-json">
      <label>
        {chartFormTexts.specification}
        <textarea
          rows={12}
          spellcheck={false}
          value={text}
          onInput={(event) => edit(event.currentTarget.value)}
        />
      </label>
      <button type="button" class="button small" onClick={() => write(text)}>
        {chartFormTexts.drawIt}
      </button>
    </div>
  );
}

const MARKS: Record<string, string> = { line: "line", area: "area", point: "point" };

/** To begin with: the chart that is drawn, in few words. */
export function outline({ mark, across, values, series }: Plan, columns: Column[]): Spec {
  const at = (index: number | null | undefined) => columns[index ?? -1];
  const channel = (column: Column | undefined) =>
    column && { field: pathOf(column.name), type: typeOf(column) };
  const encoding = {
    x: channel(at(across) ?? columns[0]),
    y: channel(at(values[0]?.column) ?? columns.find(isNumeric)),
    color: channel(at(series)),
  };
  return { data: { name: "rows" }, mark: MARKS[mark ?? ""] ?? "bar", encoding };
}

/** Vega reads dots and brackets of a name as a path. */
function pathOf(name: string): string {
  return name.replace(/[\\.[\]]/g, "\\$&");
}

function typeOf(column: Column): string {
  if (isNumeric(column)) return "quantitative";
  return ["date", "datetime"].includes(column.type) ? "temporal" : "nominal";
}
