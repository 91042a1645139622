/** Which answer's provenance the page shows, and where its reader came from. */
import { signal } from "@preact/signals";
import type { Exchange } from "../conversation/model";

export interface ShownProvenance {
  exchange: Exchange;
  sessionId: string;
  connectionId: string | null;
  /** The column of the result to open at: its name as the result has it. */
  column: string | null;
  /** The version of the answer, from 2; undefined for its own statement. */
  version: number | undefined;
}

export const shownProvenance = signal<ShownProvenance | null>(null);

/** The statement that a reader of its provenance wants to see. */
export const sqlWanted = signal<{ exchange: string; version: number | undefined } | null>(null);

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
