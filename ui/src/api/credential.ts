/** The credential of the page: an API key or a token, kept only in the tab's session storage. */
import { signal } from "@preact/signals";

const KEPT = "kai.credential";

/** Whether the server requires a credential, or has refused the one that was sent. */
export const signInNeeded = signal(false);

export function keepCredential(credential: string): void {
  sessionStorage.setItem(KEPT, credential);
  signInNeeded.value = false;
}

/** Reloads the page, so the next user sees nothing of the last, and removes the credential as it unloads. */
export function signOut(): void {
  window.addEventListener("pagehide", () => sessionStorage.removeItem(KEPT));
  window.location.assign("/");
}

/** Value of the header `Authorization`; null without a credential. */
export function authorization(): string | null {
  const credential = sessionStorage.getItem(KEPT);
  return credential === null ? null : `Bearer ${credential}`;
}

/** `fetch` with the credential, if there is one. */
export async function signedFetch(request: Request): Promise<Response> {
  const credential = authorization();
  if (credential !== null) request.headers.set("Authorization", credential);
  const response = await fetch(request);
  if (response.status === 401) signInNeeded.value = true;
  return response;
}
