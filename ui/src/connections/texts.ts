/** Texts of the form for databases, fetched with it. */
import type { Engine } from "./address";

export const form = {
  engine: "Kind of database",
  engines: {
    postgresql: "PostgreSQL",
    mysql: "MySQL or MariaDB",
    sqlite: "SQLite file",
    duckdb: "DuckDB file",
    address: "One address for everything",
  } satisfies Record<Engine, string>,
  host: "Host",
  port: "Port",
  ports: { postgresql: "5432", mysql: "3306" } as Partial<Record<Engine, string>>,
  database: "Database",
  user: "User",
  password: "Password",
  passwordHint: "KAI only reads. An account that cannot write is safest.",
  passwordKept: "Leave it empty to keep the stored one. For another server or user it is needed again.",
  path: "Path of the file",
  pathHint: "On the machine where KAI runs, such as /data/shop.db",
  pathKept: (file: string) => `Leave it empty to keep ${file}. Otherwise the whole path on KAI's machine.`,
  address: "Address",
  addressHint:
    "postgresql://user:password@host/database, mysql://user:password@host/database, sqlite:////data/shop.db or duckdb:////data/shop.duckdb",
  addressKept: "Leave it empty to keep the address.",
  upload: (file: string) => `The data is a copy of the uploaded file ${file}.`,
  descriptionHint: "What is in it, in your words.",
  test: "Test connection",
  testing: "Testing the connection …",
  works: (address: string) => `The connection works: ${address}`,
  failed: "The database cannot be connected",
  connect: "Connect",
  edit: "Edit",
  editOf: (name: string) => `Edit ${name}`,
  saved: "Saved",
  readAgain: "Saved. The schema of the new address is being read.",
};
