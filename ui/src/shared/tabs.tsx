import type { IconNode } from "lucide";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Icon } from "./icon";
import "./tabs.css";

export interface Tab<Key extends string> {
  key: Key;
  label: string;
  icon?: IconNode;
}

interface Shown<Key extends string> {
  label: string;
  tabs: Tab<Key>[];
  shown: Key;
  show: (key: Key) => void;
  /** What stands beside the tabs, which are under their panel then. Undefined: they are over it. */
  beside?: ComponentChildren;
  children: ComponentChildren;
}

/** Tabs over one panel, or under it; arrow keys move between them. */
export function Tabs<Key extends string>({ label, tabs, shown, show, beside, children }: Shown<Key>) {
  const id = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const at = tabs.findIndex((each) => each.key === shown);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (by === 0 || !next) return;
    show(next.key);
    document.getElementById(`${id}-${next.key}`)?.focus();
  };
  const list = (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map(({ key, label, icon }) => (
        <button
          type="button"
          role="tab"
          key={key}
          id={`${id}-${key}`}
          aria-selected={key === shown}
          aria-controls={`${id}-panel`}
          tabIndex={key === shown ? 0 : -1}
          onClick={() => show(key)}
        >
          {icon && <Icon of={icon} size={15} />} {label}
        </button>
      ))}
    </div>
  );
  return (
    <div class="tabbed">
      {beside === undefined && list}
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${shown}`}>
        {children}
      </div>
      {beside !== undefined && (
        <div class={beside ? "tab-line full" : "tab-line"}>
          {list}
          {beside}
        </div>
      )}
    </div>
  );
}
