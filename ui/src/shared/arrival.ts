/** What happens to scroll and focus when another page is gone to. */
import { useEffect, useRef } from "preact/hooks";
import type { Route } from "./route";

/** Begins each page at its top. The focus of a link that has gone with its page goes to the new heading. */
export function useArrival(here: Route): void {
  const shown = useRef(here);
  useEffect(() => {
    const main = document.querySelector("main");
    if (shown.current === here || !main) return;
    shown.current = here;
    main.scrollTop = 0;
    if (isSettled(main)) return;
    const observer = new MutationObserver(() => isSettled(main) && observer.disconnect());
    observer.observe(main, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [here]);
}

/** Whether the focus is somewhere, which it is once there is a heading. */
function isSettled(main: HTMLElement): boolean {
  if (document.activeElement !== document.body) return true;
  const heading = main.querySelector("h1");
  if (!heading) return false;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  return true;
}
