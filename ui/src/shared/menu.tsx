import type { IconNode } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icon";

export interface MenuItem {
  icon?: IconNode;
  label: string;
  onSelect: () => void;
}

interface Shown {
  icon: IconNode;
  label: string;
  /** Text of the button; without text it shows an icon only, named by `label`. */
  text?: string;
  items: MenuItem[];
}

/** A button that opens a list of things to do; arrow keys move in it, Escape closes it. */
export function Menu({ icon, label, text, items }: Shown) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const isOutside = (target: EventTarget | null) =>
    target !== null && !root.current?.contains(target as Node);
  useEffect(() => {
    if (!open) return;
    entries(root.current)[0]?.focus();
    const onPointer = (event: PointerEvent) => isOutside(event.target) && setOpen(false);
    document.addEventListener("pointerdown", onPointer);
    return () => document.removeEventListener("pointerdown", onPointer);
  }, [open]);
  // When the list around the menu is reordered, no element gets the focus: the menu stays open.
  const onFocusOut = (event: FocusEvent) => {
    if (isOutside(event.relatedTarget)) setOpen(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return;
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown") move(root.current, 1);
    else if (event.key === "ArrowUp") move(root.current, -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu" ref={root} onFocusOut={onFocusOut} onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        class={text ? "button small" : "icon-button"}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon of={icon} /> {text}
      </button>
      {open && (
        <div class="menu-list" role="menu" aria-label={label}>
          {items.map((item) => (
            <Entry key={item.label} item={item} close={close} />
          ))}
        </div>
      )}
    </div>
  );
}

function Entry({ item, close }: { item: MenuItem; close: () => void }) {
  const select = () => {
    close();
    item.onSelect();
  };
  return (
    <button type="button" role="menuitem" tabIndex={-1} onClick={select}>
      {item.icon && <Icon of={item.icon} />} {item.label}
    </button>
  );
}

function entries(root: HTMLElement | null): HTMLElement[] {
  return [...(root?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
}

function move(root: HTMLElement | null, by: number): void {
  const all = entries(root);
  const at = all.indexOf(document.activeElement as HTMLElement);
  all[(at + by + all.length) % all.length]?.focus();
}
