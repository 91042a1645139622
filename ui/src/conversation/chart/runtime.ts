/**
 * Vega and Vega-Lite: a chunk of its own, which is fetched while a question is answered. Expressions are
 * interpreted, so the page's policy needs no exception for them, and nothing is ever loaded.
 */
import { type Loader, type LoggerInterface as Logger, None, parse, type Spec as Vega, View } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile, type Config, type TopLevelSpec } from "vega-lite";
import themes from "../../../../app/modules/analysis/chart/theme.json";
import { planOf, type Spec } from "./spec";

export type Theme = "light" | "dark";

const refuse = () => Promise.reject(new Error("a chart loads nothing"));
/** No address is one that an image or a link may have. */
const nowhere = () => Promise.resolve({});
const REFUSING = { load: refuse, sanitize: nowhere, http: refuse, file: refuse } as unknown as Loader;
const QUIET = { level: quiet, error: quiet, warn: quiet, info: quiet, debug: quiet } as unknown as Logger;

/** Draws into an element, which need not be shown yet. Raises what Vega raises for a specification. */
export async function draw(spec: Spec, theme: Theme, place?: HTMLElement): Promise<View> {
  const config = themes[theme] as unknown as Config;
  const whole = await withShapes(spec);
  const { spec: compiled } = compile(whole as unknown as TopLevelSpec, { config, logger: QUIET });
  const view = new View(parse(withMoments(compiled), {}, { ast: true }), {
    expr: expressionInterpreter,
    renderer: "svg",
    loader: REFUSING,
    hover: false,
    logLevel: None,
    tooltip: () => undefined,
    ...(place && { container: place }),
  });
  return view.runAsync();
}

/** Adds the shapes of countries to a map, whose specification only names them. They are fetched with the first. */
export async function withShapes(spec: Spec): Promise<Spec> {
  if (planOf(spec).mark !== "map") return spec;
  const { default: world } = await import("../../../../app/modules/analysis/chart/world.json");
  return { ...spec, datasets: { world } };
}

function quiet(): Logger {
  return QUIET;
}

const MOMENT = /\bdatetime\((-?\d+)\)/g;

/** Vega-Lite writes a number that is a time as `datetime(…)`, which the interpreter takes for a year. */
function withMoments({ data, ...rest }: Vega): Vega {
  const text = JSON.stringify(rest, (key, value: unknown) =>
    key === "signal" && typeof value === "string"
      ? value.replace(MOMENT, "utc(1970, 0, 1, 0, 0, 0, $1)")
      : value,
  );
  return { ...(JSON.parse(text) as Vega), ...(data && { data }) };
}
