/** The credential of the page: an API key or a token in the tab's session storage, or a cookie that no script
 * reads and all tabs share. */
import { signal } from "@preact/signals";

import { ApiError, problemIn } from "./problem";

const KEPT = "kai.credential";
const SIGN_IN = "/api/v1/sign-in";
/** The server takes the cookie of no request without it, and no page of another origin can send it. */
const PAGE = { "X-KAI-Page": "1" };

/** Whether the server requires a credential, or has refused the one that was sent. */
export const signInNeeded = signal(false);

/** How often a user has signed in on this page: an answer to an earlier request says nothing of the last. */
let signIns = 0;

function signedIn(): void {
  signIns += 1;
  signInNeeded.value = false;
}

export function keepCredential(credential: string): void {
  sessionStorage.setItem(KEPT, credential);
  signedIn();
}

/** Keeps this browser signed in by a cookie, which all tabs share. Raises `ApiError`. */
export async function remember(credential: string): Promise<void> {
  const headers = { ...PAGE, Authorization: `Bearer ${credential}` };
  const response = await fetch(SIGN_IN, { method: "POST", headers });
  if (!response.ok) throw new ApiError(problemIn(await response.json().catch(() => null), response.status));
  forgetCredential();
  signedIn();
}

/** Forgets the tab's credential, which would count instead of the cookie. */
export function forgetCredential(): void {
  sessionStorage.removeItem(KEPT);
}

/** Reloads the page, so the next user sees nothing of the last, and removes the credential as it unloads. The
 * server ends the sign-in of a cookie, for all tabs, and may lead to the identity provider to end it there. */
export async function signOut(): Promise<void> {
  const leads = authorization() === null ? await endSignIn() : "/";
  window.addEventListener("pagehide", forgetCredential);
  window.location.assign(leads);
}

async function endSignIn(): Promise<string> {
  const response = await signedFetch(new Request(SIGN_IN, { method: "DELETE" }));
  return response.status === 200 ? ((await response.json()) as { continue_at: string }).continue_at : "/";
}

/** Value of the header `Authorization`; null without a credential in this tab. */
function authorization(): string | null {
  const credential = sessionStorage.getItem(KEPT);
  return credential === null ? null : `Bearer ${credential}`;
}

/** Headers that sign a request of the page; the browser adds the cookie by itself. */
export function signs(): Record<string, string> {
  const credential = authorization();
  return credential === null ? PAGE : { Authorization: credential };
}

/** `fetch` with the credential, if there is one. What is read and refused while a user signs in is read again. */
export async function signedFetch(request: Request): Promise<Response> {
  const before = signIns;
  for (const [name, value] of Object.entries(signs())) request.headers.set(name, value);
  const response = await fetch(request);
  if (response.status !== 401) return response;
  if (before === signIns) signInNeeded.value = true;
  else if (request.method === "GET") return signedFetch(request);
  return response;
}
