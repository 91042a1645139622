import { type ComponentChildren, type ComponentType, createElement } from "preact";
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import { ProblemBox } from "./problem_box";

type Loaded<Props> = { default: ComponentType<Props> };

/**
 * A component whose code is fetched when it is first shown; `meanwhile` keeps its place. If the code cannot be
 * fetched, because KAI cannot be reached or has a newer version, it says so and can load the page again.
 */
export function lazy<Props extends object>(
  load: () => Promise<Loaded<Props>>,
  meanwhile?: (props: Props) => ComponentChildren,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function Lazy(props: Props) {
    const [, shown] = useState(loaded !== null);
    const [failure, fail] = useState<unknown>(null);
    useEffect(() => {
      // It may have come with another element, after this one was drawn without it.
      if (loaded !== null) shown(true);
      else
        load().then((module) => {
          loaded = module.default;
          shown(true);
        }, fail);
    }, []);
    if (failure !== null && loaded === null)
      return <ProblemBox problem={asProblem(failure)} onRetry={() => location.reload()} />;
    return <>{loaded ? createElement(loaded, props) : meanwhile?.(props)}</>;
  };
}
