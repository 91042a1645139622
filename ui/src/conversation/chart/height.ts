/** Heights of charts, known before the code that draws them is there, so that nothing moves when it is. */
import { heightOf, type Spec } from "./spec";

/** Of the line that counts the rows, with the buttons; a phone has them below each other. */
const FOOT = { wide: 64, narrow: 104 };
const phone = typeof matchMedia === "undefined" ? null : matchMedia("(max-width: 760px)");

export const isNarrow = () => phone?.matches === true;

export function panelHeight(spec: Spec | null): number {
  return heightOf(spec, isNarrow()) + (isNarrow() ? FOOT.narrow : FOOT.wide);
}
