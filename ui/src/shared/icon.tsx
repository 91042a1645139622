import type { IconNode } from "lucide";
import { h } from "preact";

/** An icon beside text of the same meaning, so it is hidden from screen readers. */
export function Icon({ of, size = 16 }: { of: IconNode; size?: number }) {
  const shapes = of.map(([tag, attributes], index) => h(tag, { key: index, ...attributes }));
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      {shapes}
    </svg>
  );
}
