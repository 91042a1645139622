/** Whether answers take the whole width of the page: as stored in this browser, else where both conversation and
 * result have room. */
import { signal } from "@preact/signals";

const KEY = "kai.wide";

const stored = localStorage.getItem(KEY);

export const wide = signal(stored === null ? matchMedia("(min-width: 1920px)").matches : stored === "yes");

export function switchWide(): void {
  wide.value = !wide.value;
  localStorage.setItem(KEY, wide.value ? "yes" : "no");
}
