import { X } from "lucide";
import { changeProfile, consentToProfile, forgetAttribute } from "../api/client";
import type { Attribute, Profile, ProfileItem } from "../api/types";
import { Icon } from "../shared/icon";
import { isLeaving, removeLater } from "../shared/later";
import { orSay } from "../shared/or_say";
import { onLinkClick } from "../shared/route";
import { moment } from "../shared/time";
import { NewItem } from "./new_item";
import { memoryTexts } from "./texts";

interface Shown {
  profile: Profile;
  onChange: () => void;
}

/** What KAI knows of the caller, attribute by attribute, and whether it may. */
export function ProfileView({ profile, onChange }: Shown) {
  const { lead, off, consented, notConsented, consent, withdraw, none, attributes } = memoryTexts.profile;
  const { enabled, consented_at } = profile;
  const names = (Object.keys(attributes) as Attribute[]).filter((each) => itemsOf(profile, each).length > 0);
  const agree = (given: boolean) => orSay(consentToProfile(given).then(onChange));
  return (
    <section class="entries">
      <p class="quiet">{enabled ? lead : off}</p>
      {enabled && (
        <div class="problem-actions">
          <p>{consented_at ? consented(moment(consented_at)) : notConsented}</p>
          <button
            type="button"
            class={consented_at ? "button small" : "button small primary"}
            onClick={() => agree(consented_at === null)}
          >
            {consented_at ? withdraw : consent}
          </button>
        </div>
      )}
      {enabled && consented_at && <NewItem onChange={onChange} />}
      {enabled && names.length === 0 && <p class="quiet">{none}</p>}
      {names.map((each) => (
        <AttributeView key={each} name={each} profile={profile} onChange={onChange} />
      ))}
    </section>
  );
}

const keyOf = (name: Attribute, item: ProfileItem) => `${name} ${item.text}`;

/** The items of an attribute that are not just being removed. */
function itemsOf(profile: Profile, name: Attribute): ProfileItem[] {
  return profile.attributes[name].filter((each) => !isLeaving(keyOf(name, each)));
}

function AttributeView({ name, profile, onChange }: Shown & { name: Attribute }) {
  const { attributes, removed } = memoryTexts.profile;
  const { forget } = memoryTexts;
  const items = itemsOf(profile, name);
  const mayChange = profile.enabled && profile.consented_at !== null;
  const remove = (item: ProfileItem) => {
    const really = () => changeProfile(name, { remove: [item.text] });
    removeLater(keyOf(name, item), removed(item.text), really, onChange);
  };
  return (
    <article class="entry">
      <header>
        <h2>{attributes[name]}</h2>
        {!mayChange && (
          <button
            type="button"
            class="button small"
            aria-label={`${forget}: ${attributes[name]}`}
            onClick={() => orSay(forgetAttribute(name).then(onChange))}
          >
            {forget}
          </button>
        )}
      </header>
      <ul>
        {items.map((each) => (
          <li key={each.text} class="profile-item">
            <span class="memory-text">
              {each.text} <Source item={each} />
            </span>
            {mayChange && (
              <button
                type="button"
                class="icon-button"
                aria-label={`${forget}: ${each.text}`}
                title={forget}
                onClick={() => remove(each)}
              >
                <Icon of={X} size={15} />
              </button>
            )}
          </li>
        ))}
      </ul>
    </article>
  );
}

/** When an item was learnt, with a link to the question. */
function Source({ item }: { item: ProfileItem }) {
  const { byYou } = memoryTexts.profile;
  return (
    <span class="quiet">
      {moment(item.at)} ·{" "}
      {item.session_id ? (
        <a href={`/sessions/${item.session_id}#${item.message_id ?? ""}`} onClick={onLinkClick}>
          {memoryTexts.facts.message}
        </a>
      ) : (
        byYou
      )}
    </span>
  );
}
