/** What is typed and not sent yet, by place. Questions outlive a reload and a visit elsewhere, fields of forms the
 * way to an identity provider and back. */
import { useEffect, useRef, useState } from "preact/hooks";
import { signInNeeded } from "../api/credential";
import { me } from "./me";

const keyOf = (place: string) => `kai.unsent.${place}`;

export function unsentAt(place: string): string {
  return sessionStorage.getItem(keyOf(place)) ?? "";
}

export function keepUnsent(place: string, words: string): void {
  if (words) sessionStorage.setItem(keyOf(place), words);
  else sessionStorage.removeItem(keyOf(place));
}

/** Keeps a question until the server has taken it, if the page is left to sign in meanwhile. */
export function keptUntil<Answer>(taken: Promise<Answer>, place: string, question: string): Promise<Answer> {
  return taken.finally(onLeftToSignIn(() => keepUnsent(place, question)));
}

/** Calls back if the page is left while a sign-in is needed. Returns the function that ends it. */
function onLeftToSignIn(keep: () => void): () => void {
  const leave = () => {
    if (signInNeeded.value) keep();
  };
  window.addEventListener("pagehide", leave);
  return () => window.removeEventListener("pagehide", leave);
}

/** State of a form that is there again, once, for the same user if they have left the page to sign in. `kept` is
 * what of it may be stored in the tab: nothing secret. */
export function useUnsent<Value>(
  form: string,
  initial: Value,
  kept: (value: Value) => Value = (value) => value,
): [Value, (value: Value) => void] {
  const [value, set] = useState(initial);
  const first = useRef(value);
  const now = useRef(value);
  now.current = value;
  useEffect(() => {
    const placeOf = (owner: string) => `${owner} ${form}`;
    const stop = me.subscribe((caller) => {
      if (caller === null) return;
      const found = unsentAt(placeOf(caller.owner));
      if (found) set(JSON.parse(found) as Value);
      keepUnsent(placeOf(caller.owner), "");
    });
    const end = onLeftToSignIn(() => {
      const owner = me.value?.owner;
      const isTyped = owner !== undefined && now.current !== first.current;
      if (isTyped) keepUnsent(placeOf(owner), JSON.stringify(kept(now.current)));
    });
    return () => {
      stop();
      end();
    };
  }, [form]);
  return [value, set];
}
