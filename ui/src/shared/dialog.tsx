import { X } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icon";
import { texts } from "./texts";

/** A dialog over the page; Escape or a click outside closes it, and the focus returns. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    dialog.current?.showModal();
    return () => queueMicrotask(() => giveBack(opener));
  }, []);
  const onClick = (event: MouseEvent) => {
    if (event.target === dialog.current) onClose();
  };
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose} onClick={onClick}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="icon-button" aria-label={texts.close} onClick={onClose}>
          <Icon of={X} />
        </button>
      </header>
      {children}
    </dialog>
  );
}

/** Gives the focus back that a dialog has lost: the browser does so only for one that closes before it goes. */
function giveBack(opener: HTMLElement | null): void {
  if (document.activeElement === document.body && opener?.isConnected) opener.focus();
}
