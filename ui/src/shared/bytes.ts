/** Amounts of data as people read them. */
import { count, tenths } from "./time";

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

/** 950 B, 12 kB, 1.2 GB. */
export function bytes(size: number): string {
  let shown = size;
  let step = 0;
  while (Math.round(shown) >= 1000 && step < UNITS.length - 1) {
    shown /= 1000;
    step += 1;
  }
  return `${step > 0 && shown < 9.95 ? tenths(shown) : count(Math.round(shown))} ${UNITS[step]}`;
}
