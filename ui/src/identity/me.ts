/** Who reads this page, and what he may do. */
import { computed, signal } from "@preact/signals";
import { readMe } from "../api/client";
import type { Connection, Me } from "../api/types";

export const me = signal<Me | null>(null);

/** Databases, and what is told of them, are managed by few; until it is known who reads, by nobody. */
export const mayManage = computed(() => {
  const scopes = me.value?.scopes ?? [];
  return scopes.includes("manage") || scopes.includes("admin");
});

/** A shared database is its owner's to change. */
export function mayChange(connection: Connection | undefined): boolean {
  return mayManage.value && connection?.owner === me.value?.owner;
}

let asked: Promise<void> | undefined;

/** Ends when it is known who reads. */
export function knowMe(): Promise<void> {
  return (asked ??= refreshMe());
}

/** Best-effort: while nobody can say who reads, every request says what is wrong. */
export async function refreshMe(): Promise<void> {
  me.value = await readMe().catch(() => null);
}
