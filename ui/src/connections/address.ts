/** Addresses of databases, made of the fields of a form and read into them. */
import type { Connection } from "../api/types";

export const ENGINES = ["postgresql", "mysql", "sqlite", "duckdb", "address"] as const;
/** `address`: one line with everything, as SQLAlchemy writes it. */
export type Engine = (typeof ENGINES)[number];

export interface Parts {
  engine: Engine;
  host: string;
  port: string;
  database: string;
  user: string;
  password: string;
  /** Of a file, on the machine where KAI runs. */
  path: string;
  address: string;
}

export const EMPTY: Parts = {
  engine: "postgresql",
  host: "",
  port: "",
  database: "",
  user: "",
  password: "",
  path: "",
  address: "",
};

/** The fields that a tab may store: neither the password nor an address in one line, in whatever field. */
export function withoutSecrets(parts: Parts): Parts {
  const plain = Object.entries(parts).filter(([, text]: [string, string]) => !text.includes("://"));
  return { ...EMPTY, ...(Object.fromEntries(plain) as Partial<Parts>), password: "", address: "" };
}

export const isFile = (engine: Engine) => engine === "sqlite" || engine === "duckdb";

/** The address that the fields make, or null while one that it needs is empty. */
export function addressOf(parts: Parts): string | null {
  const { engine, host, port, database, user, password, path, address } = parts;
  if (engine === "address") return address.trim() || null;
  if (isFile(engine)) {
    const encoded = path.trim().split("/").map(encodeURIComponent).join("/");
    return encoded === "" ? null : `${engine}:///${encoded}`;
  }
  if (!host.trim() || !database.trim() || !user.trim()) return null;
  const account = encodeURIComponent(user.trim()) + (password && `:${encodeURIComponent(password)}`);
  const at = host.trim().includes(":") ? `[${bare(host)}]` : bare(host);
  return `${engine}://${account}@${at}${port && `:${port}`}/${encodeURIComponent(database.trim())}`;
}

/** The host without the brackets of an IPv6 address. */
const bare = (host: string) => host.trim().replace(/^\[|\]$/g, "");

/** The fields of a connection, one for the address of an engine without others. Its password and the folder of
 * its file are not known to the page. */
export function partsOf({ dialect, masked_url }: Connection): Parts {
  const name = dialect === "postgres" ? "postgresql" : dialect;
  const engine = ENGINES.find((each) => each === name) ?? "address";
  const server = /^\w+:\/\/([^@]*)@(.+?)(?::(\d+))?\/(.*)$/.exec(masked_url);
  if (engine === "address" || isFile(engine) || server === null) return { ...EMPTY, engine };
  const [, user = "", host = "", port = "", database = ""] = server;
  const plain = decodeURIComponent;
  return { ...EMPTY, engine, user: plain(user), host: bare(host), port, database: plain(database) };
}
