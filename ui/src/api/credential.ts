/** The credential of the page: an API key or a token in the tab's session storage, or a cookie that no script
 * reads and all tabs share. */
import { signal } from "@preact/signals";

import { ApiError, problemIn } from "./problem";

const KEPT = "kai.credential";
const SIGN_IN = "/api/v1/sign-in";
/** The server takes the cookie of no request without it, and no page of another origin can send it. */
export const PAGE = { "X-KAI-Page": "1" };

/** Whether the server requires a credential, or has refused the one that was sent. */
export const signInNeeded = signal(false);

/** How often a user has signed in on this page: an answer to an earlier request says nothing of the last. */
let signIns = 0;

/** What waits until a user has signed in. */
const waiting = new Set<() => void>();

/** Shows the page again, and sends what was refused meanwhile. */
export function signedIn(): void {
  signIns += 1;
  signInNeeded.value = false;
  for (const goOn of waiting) goOn();
  waiting.clear();
}

export function keepCredential(credential: string): void {
  sessionStorage.setItem(KEPT, credential);
}

/** Keeps this browser signed in by a cookie, which all tabs share. Raises `ApiError`. */
export async function remember(credential: string): Promise<void> {
  const headers = { ...PAGE, Authorization: `Bearer ${credential}` };
  const response = await fetch(SIGN_IN, { method: "POST", headers });
  if (!response.ok) throw new ApiError(problemIn(await response.json().catch(() => null), response.status));
  forgetCredential();
}

/** Forgets the tab's credential, which would count instead of the cookie. */
export function forgetCredential(): void {
  sessionStorage.removeItem(KEPT);
}

/** Reloads the page, so the next user sees nothing of the last, and empties the tab's storage as it unloads. The
 * server ends the sign-in of a cookie, for all tabs, and may lead to the identity provider to end it there. */
export async function signOut(): Promise<void> {
  const leads = authorization() === null ? await endSignIn() : "/";
  window.addEventListener("pagehide", () => sessionStorage.clear());
  window.location.assign(leads);
}

async function endSignIn(): Promise<string> {
  const response = await fetch(SIGN_IN, { method: "DELETE", headers: PAGE });
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

/** A request that holds its body as it was given: the stream of a copied request would be sent in pieces of unknown
 * length, and to read its text first would send nothing of a page that is left at once. */
export class SignedRequest extends Request {
  readonly given: BodyInit | null;

  constructor(input: RequestInfo | URL, init?: RequestInit) {
    super(input, init);
    this.given = init?.body ?? null;
  }
}

/** `fetch` with the credential, if there is one. What is refused for want of one has done nothing: it is sent again
 * once a user has signed in, so nothing that was typed is lost. Raises what aborts the request meanwhile. */
export async function signedFetch(request: Request): Promise<Response> {
  const sent = signIns;
  const body = request instanceof SignedRequest ? request.given : null;
  const attempt = new Request(request, body === null ? {} : { body });
  for (const [name, value] of Object.entries(signs())) attempt.headers.set(name, value);
  const response = await fetch(attempt);
  if (response.status !== 401) return response;
  await nextSignIn(sent, request.signal);
  return signedFetch(request);
}

/** How many sign-ins there were before a request: `nextSignIn` takes the number. */
export function countSignIns(): number {
  return signIns;
}

/** Asks for a sign-in, unless there was one since a request was sent that the server has refused; resolves after
 * it. Raises the signal's reason. */
export function nextSignIn(sent: number, signal: AbortSignal): Promise<void> {
  if (sent !== signIns) return Promise.resolve();
  signInNeeded.value = true;
  return new Promise((resolve, reject) => {
    waiting.add(resolve);
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });
}
