/** Routes of databases that only their forms use. They raise what `call` raises. */
import { call } from "../api/client";
import type { CheckedDatabase, Connection, DatabaseSchema } from "../api/types";

export interface ConnectionChange {
  name?: string;
  description?: string;
  url?: string;
  /** Patterns of the schemas to read; empty reads all. */
  schemas?: string[];
  /** Rows above which a statement waits for an approval; 0 for none. */
  ask_above_rows?: number;
  /** Rows above which a statement is refused; 0 for none. */
  refuse_above_rows?: number;
}

/** Opens a database without storing its address, perhaps as the new address of a connection. */
export function testConnection(url: string, db_connection_id?: string): Promise<CheckedDatabase> {
  return call("POST", "database-connections/test", { url, db_connection_id });
}

/** The schemas that the account may use. */
export async function readSchemas(id: string): Promise<DatabaseSchema[]> {
  const path = `database-connections/${encodeURIComponent(id)}/schemas`;
  return (await call<{ items: DatabaseSchema[] }>("GET", path)).items;
}

export function readConnection(id: string): Promise<Connection> {
  return call("GET", `database-connections/${encodeURIComponent(id)}`);
}

export function changeConnection(id: string, change: ConnectionChange, version: number): Promise<Connection> {
  return call("PATCH", `database-connections/${encodeURIComponent(id)}`, change, version);
}
