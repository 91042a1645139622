import type { IconNode } from "lucide";
import { Icon } from "./icon";

interface Shown {
  icon: IconNode;
  /** Its name and its tooltip. */
  label: string;
  size?: number;
  /** Whether what it shows and hides is there. */
  expanded?: boolean;
  popup?: "dialog";
  onClick: () => void;
}

/** A button that shows an icon only. */
export function IconButton({ icon, label, size, expanded, popup, onClick }: Shown) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      aria-expanded={expanded}
      aria-haspopup={popup}
      onClick={onClick}
    >
      <Icon of={icon} size={size} />
    </button>
  );
}
