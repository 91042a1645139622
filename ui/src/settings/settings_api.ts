/** Routes that only the settings use. They raise what `call` raises. */
import { call, type Page } from "../api/client";
import type { ApiKey, MadeApiKey, ModelPage, NewApiKey, Usage } from "../api/types";

export const readUsage = () => call<Usage>("GET", "usage");
export const listModels = () => call<ModelPage>("GET", "models?limit=100");
export const makeKey = (body: NewApiKey) => call<MadeApiKey>("POST", "api-keys", body);
export const revokeKey = (id: string) => call("DELETE", `api-keys/${encodeURIComponent(id)}`);

/** Keys of all users, newest first, by pages. */
export function listKeys(cursor?: string): Promise<Page<ApiKey>> {
  const after = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
  return call("GET", `api-keys?limit=20${after}`);
}
