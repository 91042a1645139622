/** Whether the reader has moved, touched or typed since the page was opened: what only decorates waits for it. */
import { signal } from "@preact/signals";

export const inUse = signal(false);

for (const type of ["pointermove", "pointerdown", "keydown"])
  addEventListener(type, () => (inUse.value = true), { once: true });
