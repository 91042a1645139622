import type { ChartChoice } from "../../api/types";

/** A reader's choice with a part changed; null if nothing is left of it. A specification of one's own ends with that. */
export function merged(choice: ChartChoice | null, part: ChartChoice): ChartChoice | null {
  const changed = { ...choice, specification: null, ...part };
  const entries = Object.entries(changed).filter(([, value]) => value !== undefined && value !== null);
  return entries.length > 0 ? Object.fromEntries(entries) : null;
}
