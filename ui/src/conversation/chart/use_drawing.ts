import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { shownTheme } from "../../shared/theme";
import { printing } from "../printed";
import { fetchRuntime, runtime } from "./fetched";
import { type Point, pointsOf } from "./points";
import { legendField, withSeries } from "./series";
import { fitted, type Spec } from "./spec";

export interface Entry {
  name: string;
  color: string;
}

/** What has been drawn. */
export interface Drawing {
  width: number;
  height: number;
  points: Point[];
  legend: Entry[];
}

interface Wanted {
  spec: Spec;
  /** Width and height of the place; nothing is drawn while there is none. */
  width: number;
  height: number;
  hidden: ReadonlySet<string>;
}

type Place = { current: HTMLElement | null };
type View = Awaited<ReturnType<typeof import("./runtime").draw>>;

/** Draws a specification into a place, again when its size or the theme changes: light on paper. */
export function useDrawing(place: Place, { spec, width, height, hidden }: Wanted) {
  const [drawing, setDrawing] = useState<Drawing | null>(null);
  const [failed, fail] = useState(false);
  const [names, setNames] = useState<Entry[]>([]);
  const loaded = runtime.value;
  const theme = printing.value ? "light" : shownTheme();
  useEffect(fetchRuntime, []);
  useEffect(() => setNames([]), [spec]);
  useLayoutEffect(() => {
    if (!loaded || loaded === "failed" || width <= 0 || height <= 0) return;
    let view: View | null = null;
    let isOver = false;
    const field = legendField(spec);
    const series = field === null ? spec : withSeries(spec, field, names.map(nameOf), hidden);
    void drawn(loaded.draw, series, { width, height }, theme).then(
      ([own, element]) => {
        if (isOver) return own.finalize();
        view = own;
        const svg = element.querySelector("svg");
        place.current?.replaceChildren(element);
        const legend = names.length > 0 ? names : field === null ? [] : entriesOf(own);
        if (names.length === 0 && legend.length > 0) setNames(legend);
        const size = { width: sizeOf(svg, "width"), height: sizeOf(svg, "height") };
        setDrawing({ ...size, points: pointsOf(own), legend });
        fail(false);
      },
      () => isOver || fail(true),
    );
    return () => {
      isOver = true;
      view?.finalize();
    };
  }, [loaded, spec, width, height, theme, hidden]);
  return { drawing: failed ? null : drawing, failed: failed || loaded === "failed" };
}

interface Size {
  width: number;
  height: number;
}

/** Draws once more, narrower, where axes beside a view have made it wider than its place. */
async function drawn(
  draw: typeof import("./runtime").draw,
  spec: Spec,
  { width, height }: Size,
  theme: "light" | "dark",
): Promise<[View, HTMLElement]> {
  const element = document.createElement("div");
  const view = await draw(fitted(spec, { width, height }), theme, element);
  const beyond = sizeOf(element.querySelector("svg"), "width") - width;
  if (beyond < 1) return [view, element];
  view.finalize();
  const narrower = document.createElement("div");
  return [await draw(fitted(spec, { width: width - Math.ceil(beyond), height }), theme, narrower), narrower];
}

function sizeOf(svg: Element | null, side: "width" | "height"): number {
  return Number(svg?.getAttribute(side) ?? 0);
}

/** The names and colours of a drawing's series; none if its parts have scales of their own. */
function entriesOf(view: View): Entry[] {
  try {
    const scale = view.scale("color") as { (name: string): string; domain(): unknown[] };
    return scale.domain().map((each) => ({ name: String(each), color: scale(String(each)) }));
  } catch {
    return [];
  }
}

const nameOf = ({ name }: Entry) => name;
