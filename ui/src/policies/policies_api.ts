/** Routes of the policies of a database. They raise what `call` raises. */
import { call } from "../api/client";
import type { AccessPolicy, LimitedStatementBody, Policies, PolicyFaultBody } from "../api/schema";

export type Policy = AccessPolicy;
export type PolicySet = Policies;
export type Fault = PolicyFaultBody;
export type LimitedStatement = LimitedStatementBody;

/** The policies that hold, and the version of the database; null if there are none. */
export interface HeldPolicies {
  version: number;
  policies: PolicySet | null;
  /** The same as YAML. */
  text: string;
}

export interface PolicyTrial {
  sql: string;
  owner: string;
  attributes: Record<string, string | string[]>;
}

const pathOf = (id: string) => `database-connections/${encodeURIComponent(id)}/policies`;

export function readPolicies(id: string): Promise<HeldPolicies> {
  return call("GET", pathOf(id));
}

export function changePolicies(
  id: string,
  policies: PolicySet | string | null,
  version: number,
): Promise<HeldPolicies> {
  return call("PATCH", pathOf(id), { policies }, version);
}

export async function checkPolicies(id: string, policies: PolicySet): Promise<Fault[]> {
  return (await call<{ items: Fault[] }>("POST", `${pathOf(id)}/check`, policies)).items;
}

export function tryPolicies(id: string, trial: PolicyTrial): Promise<LimitedStatement> {
  return call("POST", `${pathOf(id)}/test`, trial);
}
