/** Short messages at the edge of the page; a message may offer an undo. */
import { signal } from "@preact/signals";
import { texts } from "./texts";

interface Toast {
  id: number;
  message: string;
  undo?: () => void;
}

const SHOWN_MS = 6_000;
const toasts = signal<Toast[]>([]);
let last = 0;

/** Shows a message for six seconds; `undo` adds a button that also closes the message. */
export function say(message: string, undo?: () => void): void {
  last += 1;
  const toast: Toast = { id: last, message, ...(undo && { undo }) };
  toasts.value = [...toasts.value, toast];
  setTimeout(() => dismiss(toast.id), SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map((toast) => (
        <div class="toast" key={toast.id}>
          <span>{toast.message}</span>
          {toast.undo && <UndoButton toast={toast} />}
        </div>
      ))}
    </div>
  );
}

function UndoButton({ toast }: { toast: Toast }) {
  const undo = () => {
    toast.undo?.();
    dismiss(toast.id);
  };
  return (
    <button type="button" class="button small" onClick={undo}>
      {texts.undo}
    </button>
  );
}

export const UNDO_MS = SHOWN_MS;
