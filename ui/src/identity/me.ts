/** The signed-in caller and their scopes. */
import { computed, signal } from "@preact/signals";
import { readMe } from "../api/client";
import type { Connection, Me } from "../api/types";

export const me = signal<Me | null>(null);

export const isAdmin = computed(() => me.value?.scopes.includes("admin") ?? false);

/** Only callers with the scope `manage` see the controls of databases and of the context store. */
export const mayManage = computed(() => {
  const scopes = me.value?.scopes ?? [];
  return scopes.includes("manage") || scopes.includes("admin");
});

/** Only its owner may change a shared database. */
export function mayChange(connection: Connection | undefined): boolean {
  return mayManage.value && connection?.owner === me.value?.owner;
}

let asked: Promise<void> | undefined;

/** Resolves when the caller has been read. */
export function knowMe(): Promise<void> {
  return (asked ??= refreshMe());
}

/** Best-effort: if the caller cannot be read, every other request reports the error. */
export async function refreshMe(): Promise<void> {
  me.value = await readMe().catch(() => null);
}
