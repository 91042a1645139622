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

interface WantedTab {
  exchange: string;
  tab: "sql" | "table";
  /** `latest`: the one that the answer shows by itself. */
  version?: number | "latest" | undefined;
}

/** The tab of an answer that a reader of its provenance, or of a statement's source, wants to see. */
export const tabWanted = signal<WantedTab | null>(null);

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
