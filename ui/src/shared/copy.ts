import { say } from "./toasts";
import { texts } from "./texts";

/** Puts text on the clipboard and says so. Browsers allow it on secure origins only: TLS or loopback. */
export async function copy(text: string, done: string): Promise<void> {
  if (!("clipboard" in navigator)) {
    say(texts.noClipboard);
    return;
  }
  await navigator.clipboard.writeText(text);
  say(done);
}
