/** Whether KAI investigates. Where it does not, the page shows nothing of investigations. */
import { signal } from "@preact/signals";
import { readCapabilities } from "../../api/client";

/** False also until it is known. */
export const investigates = signal(false);

let asked: Promise<void> | undefined;

/** Asked once, when an answer first has something to show. After a failure the next answer asks again. */
export function knowCapabilities(): void {
  asked ??= readCapabilities().then(
    ({ investigations }) => void (investigates.value = investigations.on),
    () => void (asked = undefined),
  );
}
