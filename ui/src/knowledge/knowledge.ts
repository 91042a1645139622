/** The context store of a database: examples, glossary, instructions. */
import { call, type Page } from "../api/client";
import { signedFetch, SignedRequest } from "../api/credential";
import { ApiError, problemIn } from "../api/problem";
import type { Example, KnowledgeImported } from "../api/types";

/** The channel that tells all tabs of this browser that a term was added, changed or deleted. */
export const CHANGED_GLOSSARY = "kai.glossary";

export const KINDS = ["examples", "glossary", "instructions"] as const;
export type Kind = (typeof KINDS)[number];
export type Field = "question" | "sql" | "term" | "meaning" | "text" | "scope";
export type Status = "proposed" | "verified" | "rejected";

/** An entry of any kind: the fields of its kind. An example also has its review, and why it would not run. */
export type Entry = {
  id: string;
  version: number;
  status?: Status;
  fault?: string | null;
  uses?: number;
} & Partial<Record<Field, string | null>>;

/** The fields of each kind of entry; an optional field may be left empty. */
export const FIELDS: Record<Kind, { name: Field; optional?: true; code?: true; line?: true }[]> = {
  examples: [{ name: "question" }, { name: "sql", code: true }],
  glossary: [{ name: "term", line: true }, { name: "meaning" }, { name: "sql", code: true, optional: true }],
  instructions: [{ name: "text" }, { name: "scope", optional: true, line: true }],
};

export async function readEntries(kind: Kind, connectionId: string): Promise<Entry[]> {
  const query = new URLSearchParams({ db_connection_id: connectionId, limit: "100" });
  return (await call<Page<Entry>>("GET", `${kind}?${query}`)).items;
}

export async function addEntry(kind: Kind, connectionId: string, fields: object): Promise<void> {
  await call("POST", kind, { db_connection_id: connectionId, ...fields });
}

/** With a version, an entry that was changed since is not changed. */
export async function changeEntry(kind: Kind, id: string, fields: object, version?: number): Promise<void> {
  await call("PATCH", `${kind}/${encodeURIComponent(id)}`, fields, version);
}

export async function removeEntry(kind: Kind, id: string): Promise<void> {
  await call("DELETE", `${kind}/${encodeURIComponent(id)}`);
}

/** The proposals that wait for the reader, of one database or of all that they may change, oldest first. */
export async function listProposals(connectionId?: string): Promise<Example[]> {
  const query = new URLSearchParams({ status: "proposed", limit: "100" });
  if (connectionId) query.set("db_connection_id", connectionId);
  return (await call<Page<Example>>("GET", `examples?${query}`)).items;
}

export type FileFormat = "csv" | "markdown";

/** All knowledge of a database as a file. */
export async function exportKnowledge(db_connection_id: string, format: FileFormat): Promise<Blob> {
  const query = new URLSearchParams({ db_connection_id, format });
  const response = await signedFetch(new SignedRequest(`/api/v1/knowledge/file?${query}`));
  if (!response.ok) throw new ApiError(problemIn(await response.json().catch(() => null), response.status));
  return response.blob();
}

export function importKnowledge(
  db_connection_id: string,
  file: { text: string; format: FileFormat; dry_run: boolean },
): Promise<KnowledgeImported> {
  return call("POST", "knowledge/file", { db_connection_id, ...file });
}

export async function changeStarters(connectionId: string, starters: string[]): Promise<void> {
  await call("PATCH", `database-connections/${encodeURIComponent(connectionId)}`, { starters });
}
