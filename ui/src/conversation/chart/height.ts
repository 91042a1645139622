/** Heights of charts, known before the code that draws them is there, so that nothing moves when it is. */
import { heightOf, type Spec } from "./spec";

/** Over and under the drawing. */
const MARGINS = 16;
const phone = typeof matchMedia === "undefined" ? null : matchMedia("(max-width: 760px)");

export const isNarrow = () => phone?.matches === true;

export function panelHeight(spec: Spec | null): number {
  return heightOf(spec, isNarrow()) + MARGINS;
}
