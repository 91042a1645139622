import type { ComponentChildren } from "preact";
import { useEffect, useId } from "preact/hooks";
import { isAdmin, me } from "../identity/me";
import { onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { chooseDensity, chooseTheme, density, type Density, theme, type Theme } from "../shared/theme";
import { Keys } from "./keys";
import { chooseLanguage, chosenLanguage, type Language } from "./language";
import { ModelState } from "./model_state";
import { settings } from "./texts";
import { UsageToday } from "./usage_today";
import "./settings.css";

/** The state of this KAI for the reader, and what they may set. */
export default function SettingsPage() {
  useEffect(() => {
    document.title = `${texts.settings.title} · ${texts.product}`;
  }, []);
  return (
    <div class="page settings">
      <header class="page-head">
        <h1>{texts.settings.title}</h1>
      </header>
      <Part title={settings.account}>
        <Account />
      </Part>
      <Part title={settings.model}>
        <ModelState />
      </Part>
      <Part title={settings.usage}>
        <UsageToday />
      </Part>
      <Part title={settings.look}>
        <Look />
      </Part>
      <Part title={settings.kept}>
        <p>
          <a href="/memory" onClick={onLinkClick}>
            {texts.memory.title}
          </a>
          <br />
          <span class="quiet">{settings.memory}</span>
        </p>
        <p>
          <a href="/links" onClick={onLinkClick}>
            {texts.share.links}
          </a>
          <br />
          <span class="quiet">{settings.links}</span>
        </p>
      </Part>
      <Part title={settings.keys}>
        {isAdmin.value ? <Keys /> : <p class="quiet">{settings.keysOfOthers}</p>}
      </Part>
      <Part title={settings.shortcuts}>
        <Shortcuts />
      </Part>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <div>{children}</div>
    </section>
  );
}

function Account() {
  if (me.value === null) return <p aria-busy="true" />;
  const { owner, scopes, signed_in_by: how } = me.value;
  if (how === "local") return <p>{settings.local}</p>;
  return (
    <>
      <p>{settings.signedIn(owner, settings.hows[how] ?? how)}</p>
      <p class="quiet">{settings.may(scopes.join(", "))}</p>
    </>
  );
}

function Look() {
  return (
    <>
      <Choice
        label={settings.theme}
        names={settings.themes}
        value={theme.value}
        choose={(value) => chooseTheme(value as Theme)}
      />
      <Choice
        label={settings.density}
        names={settings.densities}
        value={density.value}
        choose={(value) => chooseDensity(value as Density)}
      />
      <Choice
        label={settings.language}
        names={settings.languages}
        value={chosenLanguage()}
        choose={(value) => chooseLanguage(value as Language)}
      />
      <p class="quiet">{settings.languageHint}</p>
    </>
  );
}

interface Chosen {
  label: string;
  names: Record<string, string>;
  value: string;
  choose: (value: string) => void;
}

function Choice({ label, names, value, choose }: Chosen) {
  return (
    <label class="setting">
      {label}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {Object.entries(names).map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Shortcuts() {
  return (
    <dl class="shortcuts">
      {settings.keysOf.map(([keys, does]) => (
        <div key={does}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  );
}
