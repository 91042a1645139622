import { useEffect, useState } from "preact/hooks";
import { checkCredential } from "../api/client";
import { keepCredential, remember } from "../api/credential";
import { ApiError, asProblem } from "../api/problem";
import type { Problem } from "../api/types";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { refreshMe } from "./me";
import "./sign_in.css";

/** The sign-in screen, shown instead of the page until the server accepts a credential. */
export function SignIn() {
  const { title, lead, credential: label, hint, signIn } = texts.identity;
  const [credential, setCredential] = useState("");
  const [stays, setStays] = useState(false);
  const [checking, setChecking] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
  }, []);
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    setChecking(true);
    setProblem(null);
    try {
      await checkCredential(credential.trim());
      if (stays) await remember(credential.trim());
      else keepCredential(credential.trim());
      await refreshMe();
    } catch (error) {
      setProblem(refused(error));
      setChecking(false);
    }
  };
  return (
    <main class="sign-in">
      <h1>{title}</h1>
      <p class="lead">{lead}</p>
      <form class="form" onSubmit={(event) => void onSubmit(event)}>
        <label>
          {label}
          <input
            ref={(field) => field?.focus()}
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
        <label class="check">
          <input
            type="checkbox"
            checked={stays}
            aria-describedby="stays-hint"
            onChange={(event) => setStays(event.currentTarget.checked)}
          />
          {texts.identity.stays}
        </label>
        <small id="stays-hint" class="quiet">
          {stays ? texts.identity.staysHint : texts.identity.tabHint}
        </small>
        {problem && <ProblemBox problem={problem} />}
        <button type="submit" class="button primary" disabled={checking}>
          {signIn}
        </button>
      </form>
    </main>
  );
}

function refused(error: unknown): Problem {
  const problem = asProblem(error);
  const wrong = error instanceof ApiError && problem.status === 401;
  return wrong ? { ...problem, title: texts.identity.wrong, detail: texts.identity.wrongLead } : problem;
}
