/** What the page reads of a chart's specification, also before the code that draws it is there. */

/** A Vega-Lite specification, as the server sends it. */
export type Spec = Record<string, unknown>;

export interface PlannedValue {
  column: number;
  how: string | null;
}

/** KAI's own note in a specification: what was drawn of which rows. Specifications of readers have less of it. */
export interface Plan {
  mark: string | null;
  /** Kinds of pictures that the rows allow; empty where the server does not say it. */
  marks: string[];
  across: number | null;
  values: PlannedValue[];
  series: number | null;
  time: string | null;
  sort: string | null;
  limit: number | null;
  /** How many rows of the result it is made of, and how many points it shows. */
  rows: number | null;
  shown: number | null;
  /** Sentences on the method, and on what is left out. */
  how: string[];
  narrowHeight: number | null;
}

/** Width for which the server measures its pictures. */
export const FULL_WIDTH = 880;
const HEIGHT = 300;
const NARROW_HEIGHT = 260;
const GAP = 20;
const LEAST_FACET = 150;
const MOST_STRETCHED = 2.5;
/** Specifications that consist of several. */
const ROWS = "vconcat";
const COLUMNS = ["hconcat", "concat"] as const;

/** The specification, or null if there is none, or it is nothing that can be drawn. */
export function readSpec(raw: unknown): Spec | null {
  const spec = recordOf(raw);
  return ["mark", "layer", ROWS, ...COLUMNS, "spec"].some((part) => part in spec) ? spec : null;
}

export function planOf(spec: Spec | null): Plan {
  const kai = recordOf(recordOf(spec?.usermeta).kai);
  const values = Array.isArray(kai.values) ? kai.values.map(recordOf) : [];
  return {
    mark: textOf(kai.mark),
    marks: textsOf(kai.marks),
    across: numberOf(kai.across),
    values: values.flatMap(({ column, how }) =>
      typeof column === "number" ? [{ column, how: textOf(how) }] : [],
    ),
    series: numberOf(kai.series),
    time: textOf(kai.time),
    sort: textOf(kai.sort),
    limit: numberOf(kai.limit),
    rows: numberOf(kai.rows),
    shown: numberOf(kai.shown),
    how: textsOf(kai.how),
    narrowHeight: numberOf(kai.narrow_height),
  };
}

/** What the picture shows, in a sentence; empty if the specification does not say it. */
export function descriptionOf(spec: Spec): string {
  return textOf(spec.description) ?? "";
}

/** The height of the drawing, before it is drawn. */
export function heightOf(spec: Spec | null, narrow: boolean): number {
  const own = spec ? ownHeight(spec) : null;
  const { narrowHeight } = planOf(spec);
  if (narrow && narrowHeight !== null) return narrowHeight;
  return narrow && (own === null || own === HEIGHT) ? NARROW_HEIGHT : (own ?? HEIGHT);
}

/** Whether the height follows from its names, as a list of bars does: it is not cut then. */
export function isList(spec: Spec): boolean {
  return encodings(spec).some(({ y }) => ["nominal", "ordinal"].includes(String(recordOf(y).type)));
}

/** The height of a list in a place with more room than its names need: few bars do not leave half of it empty. */
export function stretched(own: number, given: number): number {
  return Math.max(own, Math.min(given, own * MOST_STRETCHED));
}

/** The specification for a place of another size. The heading is the page's, so it has no title. */
export function fitted(spec: Spec, { width, height }: { width: number; height: number }): Spec {
  const factor = height / (ownHeight(spec) ?? height);
  const isWhole = !isComposed(spec);
  const inside = isWhole ? { autosize: { type: "fit", contains: "padding" }, width, height } : {};
  const drawn = isList(spec) && factor > 1 ? eachView(spec, (view) => thicker(view, factor)) : spec;
  return { ...sized(drawn, width, factor), ...inside, title: undefined };
}

/** The encodings of a specification and of all that it consists of. */
export function encodings(spec: Spec): Spec[] {
  return [recordOf(spec.encoding), ...partsOf(spec).flatMap(encodings)];
}

/** The specification with each of its views, itself the last, changed. */
export function eachView(spec: Spec, change: (view: Spec) => Spec): Spec {
  const inner = Object.fromEntries(
    Object.entries(spec).map(([name, part]): [string, unknown] => {
      if (["layer", ROWS, ...COLUMNS].includes(name) && Array.isArray(part))
        return [name, part.map((each) => eachView(recordOf(each), change))];
      return [name, name === "spec" ? eachView(recordOf(part), change) : part];
    }),
  );
  return change(inner);
}

export function recordOf(raw: unknown): Spec {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw) ? (raw as Spec) : {};
}

function thicker(view: Spec, factor: number): Spec {
  const { type, size } = recordOf(view.mark);
  if (type !== "bar" || typeof size !== "number") return view;
  return { ...view, mark: { ...recordOf(view.mark), size: size * factor } };
}

function isComposed(spec: Spec): boolean {
  return ["spec", ROWS, ...COLUMNS].some((part) => part in spec);
}

function partsOf(spec: Spec): Spec[] {
  const lists = ["layer", ROWS, ...COLUMNS].flatMap((name) => listOf(spec[name]));
  return [...lists, ...(spec.spec ? [spec.spec] : [])].map(recordOf);
}

/** The height that a specification gives itself; null if it leaves that to who draws it. */
function ownHeight(spec: Spec): number | null {
  if (!isComposed(spec)) return numberOf(spec.height);
  const heights = partsOf(spec).map(ownHeight);
  const known = heights.filter((each) => each !== null);
  if (known.length === 0) return null;
  if (!Array.isArray(spec[ROWS])) return Math.max(...known);
  const gap = numberOf(spec.spacing) ?? GAP;
  return known.reduce((sum, each) => sum + each, 0) + gap * (heights.length - 1);
}

function sized(view: Spec, width: number, factor: number): Spec {
  const height = typeof view.height === "number" ? { height: Math.round(view.height * factor) } : {};
  if (Array.isArray(view[ROWS]))
    return { ...view, [ROWS]: view[ROWS].map((each) => sized(recordOf(each), width, factor)) };
  for (const name of COLUMNS)
    if (Array.isArray(view[name]))
      return { ...view, [name]: view[name].map((each) => scaled(recordOf(each), width, factor)) };
  if (view.spec !== undefined) return facet(view, width, factor);
  return { ...view, ...height, width: typeof view.width === "object" ? view.width : width };
}

/** A view beside others: it keeps its share of the width. */
function scaled(view: Spec, width: number, factor: number): Spec {
  const share = typeof view.width === "number" ? view.width / FULL_WIDTH : 1;
  return sized(view, Math.round(width * share), factor);
}

/** Small pictures: fewer beside each other where they would become too narrow. */
function facet(view: Spec, width: number, factor: number): Spec {
  const inner = recordOf(view.spec);
  const columns = numberOf(view.columns);
  const gap = numberOf(view.spacing) ?? GAP;
  const share = typeof inner.width === "number" ? inner.width / FULL_WIDTH : 1;
  const most = Math.max(1, Math.floor((width + gap) / (LEAST_FACET + gap)));
  if (columns === null || columns <= most)
    return { ...view, spec: sized(inner, Math.round(width * share), factor) };
  return {
    ...view,
    columns: most,
    spec: sized(inner, Math.floor((width - gap * (most - 1)) / most), factor),
  };
}

function listOf(raw: unknown): unknown[] {
  return Array.isArray(raw) ? raw : [];
}

function numberOf(raw: unknown): number | null {
  return typeof raw === "number" && Number.isFinite(raw) ? raw : null;
}

function textOf(raw: unknown): string | null {
  return typeof raw === "string" ? raw : null;
}

function textsOf(raw: unknown): string[] {
  if (typeof raw === "string") return raw ? [raw] : [];
  return Array.isArray(raw) ? raw.filter((each) => typeof each === "string") : [];
}
