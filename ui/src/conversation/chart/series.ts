/** The series of a chart whose legend the page draws itself, so that its names are buttons. */
import { eachView, encodings, recordOf, type Spec } from "./spec";

const NAMES = ["nominal", "ordinal"];

/** The field that the legend is of; null if there is no legend, or one that names no series. */
export function legendField(spec: Spec): string | null {
  const shown = encodings(spec)
    .map((each) => recordOf(each.color))
    .filter(({ field, legend }) => typeof field === "string" && legend !== null);
  const [first] = shown;
  const isOne = shown.every(({ field, type }) => field === first?.field && NAMES.includes(String(type)));
  return first && isOne ? String(first.field) : null;
}

/** The specification without its legend and without the hidden ones of `names`, which keep their colours. */
export function withSeries(spec: Spec, field: string, names: string[], hidden: ReadonlySet<string>): Spec {
  const gone = names.filter((each) => hidden.has(each));
  return eachView(spec, (view) => {
    const encoding = recordOf(view.encoding);
    const color = recordOf(encoding.color);
    if (color.field !== field) return view;
    const scale = names.length > 0 ? { scale: { ...recordOf(color.scale), domain: names } } : {};
    const others = Array.isArray(view.transform) ? (view.transform as unknown[]) : [];
    const transform = [...others, { filter: { not: { field, oneOf: gone } } }];
    return {
      ...view,
      ...(gone.length > 0 && { transform }),
      encoding: { ...encoding, color: { ...color, ...scale, legend: null } },
    };
  });
}
