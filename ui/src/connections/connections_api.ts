/** Routes of databases that only their forms use. They raise what `call` raises. */
import { call } from "../api/client";
import type { CheckedDatabase, Connection } from "../api/types";

export interface ConnectionChange {
  name: string;
  description: string;
  url?: string;
}

/** Opens a database without storing its address, perhaps as the new address of a connection. */
export function testConnection(url: string, db_connection_id?: string): Promise<CheckedDatabase> {
  return call("POST", "database-connections/test", { url, db_connection_id });
}

export function changeConnection(id: string, change: ConnectionChange): Promise<Connection> {
  return call("PATCH", `database-connections/${encodeURIComponent(id)}`, change);
}
