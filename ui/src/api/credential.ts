/** What the page signs in with: an API key or a token, kept until the tab is closed and nowhere else. */
import { signal } from "@preact/signals";

const KEPT = "kai.credential";

/** Whether the server has asked for a credential, or refused the one it was sent. */
export const signInNeeded = signal(false);

export function keepCredential(credential: string): void {
  sessionStorage.setItem(KEPT, credential);
  signInNeeded.value = false;
}

/** Forgets it, last of all, and shows who comes next a page without anything of who left. */
export function signOut(): void {
  window.addEventListener("pagehide", () => sessionStorage.removeItem(KEPT));
  window.location.assign("/");
}

/** `fetch` with the credential, if there is one. */
export async function signedFetch(request: Request): Promise<Response> {
  const credential = sessionStorage.getItem(KEPT);
  if (credential !== null) request.headers.set("Authorization", `Bearer ${credential}`);
  const response = await fetch(request);
  if (response.status === 401) signInNeeded.value = true;
  return response;
}
