/** What this KAI can do. Where it does not, the page shows nothing of it. */
import { signal } from "@preact/signals";
import { readCapabilities } from "../api/client";

/** Whether KAI investigates. False also until it is known. */
export const investigates = signal(false);

/** Whether a language model answers. Null until it is known. */
export const answersByModel = signal<boolean | null>(null);

/** Whether models follow rules. False also until it is known. */
export const followsRules = signal(false);

/** Whether facts can be kept. False also until it is known. */
export const remembersFacts = signal(false);

let asked: Promise<void> | undefined;

/** Asked once. After a failure the next caller asks again. */
export function knowCapabilities(): void {
  asked ??= readCapabilities().then(
    ({ model, investigations, rules, facts }) => {
      answersByModel.value = model.on;
      investigates.value = investigations.on;
      followsRules.value = rules.on;
      remembersFacts.value = facts.on;
    },
    () => void (asked = undefined),
  );
}
