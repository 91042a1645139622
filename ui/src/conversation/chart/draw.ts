/** Draws charts without `eval` and without network. */

import { type Loader, logger, None, parse, View } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile } from "vega-lite";
import type { Chart } from "./intent";
import type { ChartColors } from "./look";
import { specOf } from "./spec";

const refused = () => Promise.reject(new Error("a chart loads nothing"));
const LOADER = {
  options: {},
  load: refused,
  sanitize: refused,
  http: refused,
  file: refused,
} as unknown as Loader;

/** A view in the element; the caller finalizes it. Raises what Vega raises. */
export async function draw(chart: Chart, element: HTMLElement, colors: ChartColors): Promise<View> {
  const { spec } = compile(specOf(chart, element.clientWidth, colors), { logger: logger(None) });
  const view = new View(parse(spec, undefined, { ast: true }), {
    container: element,
    expr: expressionInterpreter,
    loader: LOADER,
    logLevel: None,
    renderer: "svg",
    hover: true,
  });
  return view.runAsync();
}

/** The chart as a picture, at twice the screen's resolution. */
export async function picture(view: View, format: "png" | "svg"): Promise<Blob> {
  if (format === "svg") return new Blob([await view.toSVG()], { type: "image/svg+xml" });
  const canvas = await view.toCanvas(2);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png");
  });
}
