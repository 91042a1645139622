/** Which answer's provenance the page shows, and where its reader came from. */
import { signal } from "@preact/signals";
import type { Exchange } from "../conversation/model";

export interface ShownProvenance {
  exchange: Exchange;
  sessionId: string;
  connectionId: string | null;
  /** The column of the result to open at: its name as the result has it. */
  column: string | null;
}

export const shownProvenance = signal<ShownProvenance | null>(null);

/** The answer, by its exchange's key, whose SQL a reader of its provenance wants to see. */
export const sqlWanted = signal<string | null>(null);

let opener: Element | null = null;

export function showProvenance(shown: ShownProvenance): void {
  opener ??= document.activeElement;
  shownProvenance.value = shown;
}

/** Closes the panel; the focus returns to what opened it. */
export function hideProvenance(): void {
  shownProvenance.value = null;
  if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
  opener = null;
}
