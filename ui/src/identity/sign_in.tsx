import { useEffect, useRef, useState } from "preact/hooks";
import { readMeBy } from "../api/client";
import { forgetCredential, keepCredential, remember } from "../api/credential";
import { ApiError, asProblem } from "../api/problem";
import type { Problem } from "../api/types";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { goOnInAllTabs } from "./me";
import { identity } from "./texts";
import "./sign_in.css";

const PROVIDER = "/api/v1/sign-in/provider";
const FAILED = "sign_in";

/** The sign-in screen, over the page and its dialogs until the server accepts a credential. */
export default function SignIn() {
  const [provider, setProvider] = useState<string | null>();
  const [failure] = useState(() => new URLSearchParams(location.search).get(FAILED));
  const screen = useRef<HTMLDialogElement>(null);
  useEffect(() => screen.current?.showModal(), []);
  useEffect(() => {
    const title = document.title;
    document.title = `${identity.title} · ${texts.product}`;
    if (failure) history.replaceState(history.state, "", location.pathname);
    void providerName().then(setProvider);
    return () => {
      document.title = title;
    };
  }, []);
  return (
    <dialog
      ref={screen}
      class="sign-in-screen"
      aria-labelledby="sign-in"
      onClose={() => screen.current?.showModal()}
    >
      <main class="sign-in">
        <p class="brand">
          <img src="/favicon.svg" alt="" width={28} height={28} /> {texts.product}
        </p>
        <h1 id="sign-in">{identity.title}</h1>
        <p class="lead">{identity.lead}</p>
        {failure && (
          <ProblemBox
            problem={{
              title: identity.failed,
              detail: identity.failures[failure] ?? identity.failures.refused ?? "",
            }}
          />
        )}
        {provider && <ProviderButton name={provider} />}
        {provider !== undefined && <KeyForm first={provider === null} />}
      </main>
    </dialog>
  );
}

/** Name of the identity provider that people sign in at; null without one. */
async function providerName(): Promise<string | null> {
  const response = await fetch(PROVIDER).catch(() => null);
  if (!response?.ok) return null;
  return ((await response.json()) as { name: string | null }).name;
}

function ProviderButton({ name }: { name: string }) {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => link.current?.focus(), []);
  return (
    <>
      <a
        ref={link}
        class="button primary"
        href={`${PROVIDER}/start?return_to=${encodeURIComponent(location.pathname + location.hash)}`}
        onClick={forgetCredential}
      >
        {identity.provider(name)}
      </a>
      <p class="or">{identity.or}</p>
    </>
  );
}

/** Asks for a key; `first` if there is no other way to sign in. */
function KeyForm({ first }: { first: boolean }) {
  const { credential: label, hint, signIn } = identity;
  const [credential, setCredential] = useState("");
  const [stays, setStays] = useState(false);
  const [checking, setChecking] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (first) field.current?.focus();
  }, []);
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    setChecking(true);
    setProblem(null);
    try {
      const caller = await readMeBy(credential.trim());
      if (stays) await remember(credential.trim());
      else keepCredential(credential.trim());
      goOnInAllTabs(caller);
    } catch (error) {
      setProblem(refused(error));
      setChecking(false);
    }
  };
  return (
    <form class="form" onSubmit={(event) => void onSubmit(event)}>
      <label>
        {label}
        <input
          ref={field}
          required
          class="code"
          type="password"
          pattern="\s*[!-~]+\s*"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="credential-hint"
          value={credential}
          onInput={(event) => setCredential(event.currentTarget.value)}
        />
        <small id="credential-hint">{hint}</small>
      </label>
      <div class="stays">
        <label class="check">
          <input
            type="checkbox"
            checked={stays}
            aria-describedby="stays-hint"
            onChange={(event) => setStays(event.currentTarget.checked)}
          />
          {identity.stays}
        </label>
        <small id="stays-hint" class="quiet">
          {stays ? identity.staysHint : identity.tabHint}
        </small>
      </div>
      {problem && <ProblemBox problem={problem} />}
      <button type="submit" class={first ? "button primary" : "button"} disabled={checking}>
        {signIn}
      </button>
    </form>
  );
}

function refused(error: unknown): Problem {
  const problem = asProblem(error);
  const wrong = error instanceof ApiError && problem.status === 401;
  return wrong ? { ...problem, title: identity.wrong, detail: identity.wrongLead } : problem;
}
