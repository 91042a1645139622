import { type ComponentChildren, type ComponentType, createElement } from "preact";
import { useEffect, useState } from "preact/hooks";

type Loaded<Props> = { default: ComponentType<Props> };

/** A component whose code is fetched when it is first shown; `meanwhile` keeps its place. */
export function lazy<Props extends object>(
  load: () => Promise<Loaded<Props>>,
  meanwhile?: (props: Props) => ComponentChildren,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function Lazy(props: Props) {
    const [, shown] = useState(loaded !== null);
    useEffect(() => {
      // It may have come with another element, after this one was drawn without it.
      if (loaded !== null) shown(true);
      else
        void load().then((module) => {
          loaded = module.default;
          shown(true);
        });
    }, []);
    return <>{loaded ? createElement(loaded, props) : meanwhile?.(props)}</>;
  };
}
