/** Whether answers take the whole width of the page; stored in this browser. */
import { signal } from "@preact/signals";

const KEY = "kai.wide";

export const wide = signal(localStorage.getItem(KEY) === "yes");

export function switchWide(): void {
  wide.value = !wide.value;
  if (wide.value) localStorage.setItem(KEY, "yes");
  else localStorage.removeItem(KEY);
}
