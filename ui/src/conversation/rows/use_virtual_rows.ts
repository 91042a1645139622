import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

export interface VirtualRows {
  items: VirtualItem[];
  height: number;
  scrollTo: (row: number) => void;
}

/** The rows in sight of a scrolling element, all of one height in pixels. */
export function useVirtualRows(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
): VirtualRows {
  const [, changed] = useState(0);
  const options = {
    count,
    estimateSize: () => rowHeight,
    getScrollElement: () => scroller.current,
    scrollToFn: elementScroll<HTMLElement>,
    observeElementRect: observeElementRect<HTMLElement>,
    observeElementOffset: observeElementOffset<HTMLElement>,
    onChange: () => changed((times) => times + 1),
    overscan: 12,
    scrollPaddingStart: rowHeight,
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, Element>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  return {
    items: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    scrollTo: (row) => virtualizer.scrollToIndex(row),
  };
}
