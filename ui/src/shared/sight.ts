import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Whether an element is, or ever was, near the screen; long histories stay cheap by it. */
export function useInSight(element: RefObject<Element | null>): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((each) => each.isIntersecting)) return;
        setSeen(true);
        observer.disconnect();
      },
      { rootMargin: "600px" },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return seen;
}
