import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";

const NEAR = 600;

/** Whether an element is, or ever was, near the screen; keeps long histories cheap. */
export function useInSight(element: RefObject<Element | null>): boolean {
  const [seen, setSeen] = useState(false);
  useLayoutEffect(() => setSeen(isNear(element.current)), []);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((each) => each.isIntersecting)) return;
        setSeen(true);
        observer.disconnect();
      },
      { root: document.getElementById("main"), rootMargin: `${NEAR}px` },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return seen;
}

function isNear(element: Element | null): boolean {
  const top = element?.getBoundingClientRect().top ?? Infinity;
  return top < window.innerHeight + NEAR && top > -NEAR;
}
