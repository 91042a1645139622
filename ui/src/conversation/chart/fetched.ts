/** The code that draws charts, fetched once: before it is needed where a question is being answered. */
import { signal } from "@preact/signals";

type Runtime = typeof import("./runtime");

/** Null until it is there, and `failed` if it could not be fetched. */
export const runtime = signal<Runtime | "failed" | null>(null);
let underWay = false;

export function fetchRuntime(): void {
  if (underWay) return;
  underWay = true;
  import("./runtime").then(
    (module) => (runtime.value = module),
    () => {
      runtime.value = "failed";
      underWay = false;
    },
  );
}

/** Fetches all that a chart needs while the page has nothing else to do. */
export function fetchCharts(): void {
  const fetchAll = () => {
    fetchRuntime();
    for (const fetched of [import("./chart_panel"), import("./chart_tools")])
      void fetched.catch(() => undefined);
  };
  if (typeof requestIdleCallback === "undefined") setTimeout(fetchAll, 50);
  else requestIdleCallback(fetchAll, { timeout: 500 });
}
