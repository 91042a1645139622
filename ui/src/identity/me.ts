/** The signed-in caller and their scopes. */
import { computed, signal } from "@preact/signals";
import { readMe, readMeBy } from "../api/client";
import { forgetCredential, signedIn, signInNeeded, signs } from "../api/credential";
import type { Connection, Me } from "../api/types";

export const me = signal<Me | null>(null);

export const isAdmin = computed(() => me.value?.scopes.includes("admin") ?? false);

/** Only callers with the scope `manage` see the controls of databases and of the context store. */
export const mayManage = computed(() => {
  const scopes = me.value?.scopes ?? [];
  return scopes.includes("manage") || scopes.includes("admin");
});

/** Only its owner may change a shared database. */
export function mayChange(connection: Connection | undefined): boolean {
  return mayManage.value && connection?.owner === me.value?.owner;
}

/** Names the caller to the other tabs of this browser once one has signed in, who may have done so for all. */
const channel = new BroadcastChannel("kai.callers");
channel.onmessage = (event: MessageEvent<string>) => {
  const isOwn = "Authorization" in signs() || event.data === me.value?.owner;
  if (signInNeeded.value || !isOwn) void readMeBy().then(goOnByCookie, () => undefined);
};

let asked: Promise<void> | undefined;

/** Resolves when the caller has been read. Best-effort: if they cannot be, every other request reports the error. */
export function knowMe(): Promise<void> {
  return (asked ??= readMe()
    .then(goOnInAllTabs)
    .catch(() => undefined));
}

function goOnByCookie(caller: Me): void {
  forgetCredential();
  goOnAs(caller);
}

export function goOnInAllTabs(caller: Me): void {
  goOnAs(caller);
  channel.postMessage(caller.owner);
}

/** Goes on with the page as it stands, drafts and all, if the same person has signed in again. Another one sees
 * nothing of the last, and sends nothing in their name: the page is loaded again. */
function goOnAs(caller: Me): void {
  if (me.value !== null && me.value.owner !== caller.owner) {
    location.reload();
    return;
  }
  me.value = caller;
  if (signInNeeded.value) signedIn();
}
