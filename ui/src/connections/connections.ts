/** The databases that can be asked, and the scanned tables of each. */
import { signal } from "@preact/signals";
import * as api from "../api/client";
import { asProblem } from "../api/problem";
import type { Connection, Problem, Scan, Table } from "../api/types";
import { knowMe, mayChange } from "../identity/me";
import { scan } from "./scan";

export const connections = signal<Connection[] | null>(null);
export const problem = signal<Problem | null>(null);
const LAST = "kai.connection";

export async function refreshConnections(): Promise<void> {
  try {
    connections.value = (await api.listConnections()).items;
    problem.value = null;
  } catch (error) {
    problem.value = asProblem(error);
  }
}

export function connectionOf(id: string | null): Connection | undefined {
  return connections.value?.find((each) => each.id === id);
}

/** The database asked last, or the newest. */
export function usualConnection(): Connection | undefined {
  return connectionOf(localStorage.getItem(LAST) ?? "") ?? connections.value?.[0];
}

export function rememberConnection(id: string): void {
  localStorage.setItem(LAST, id);
}

/** Every table of a connection. Scans it first if it was never scanned and the user may scan it. */
export async function allTables(
  connection: Connection,
  onProgress: (scan: Scan) => void = () => undefined,
): Promise<Table[]> {
  await knowMe();
  if (connection.scanned_at === null && mayChange(connection)) await scan(connection.id, onProgress);
  const tables: Table[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.listTables(connection.id, cursor);
    tables.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return tables;
}
