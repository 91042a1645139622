import { Copy, KeyRound, Trash2 } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { ApiKey, MadeApiKey, Problem } from "../api/types";
import { copy } from "../shared/copy";
import { Icon } from "../shared/icon";
import { orSay } from "../shared/or_say";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { moment } from "../shared/time";
import { listKeys, makeKey, revokeKey } from "./settings_api";
import { settings } from "./texts";

/** API keys of all users: listed, made and revoked by an administrator. */
export function Keys() {
  const [keys, setKeys] = useState<ApiKey[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const load = async (cursor?: string) => {
    setProblem(null);
    try {
      const page = await listKeys(cursor);
      setKeys((before) => [...(cursor === undefined ? [] : (before ?? [])), ...page.items]);
      setNext(page.next_cursor);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  useEffect(() => void load(), []);
  const revoke = async (key: ApiKey) => {
    if (!confirm(settings.sure(key.prefix))) return;
    await revokeKey(key.id);
    await load();
  };
  return (
    <>
      <p class="quiet">{settings.keysLead}</p>
      <NewKey onMade={() => void load()} />
      {problem && <ProblemBox problem={problem} onRetry={() => void load()} />}
      {keys?.length === 0 && <p class="quiet">{settings.noKeys}</p>}
      <ul class="key-list">
        {keys?.map((key) => (
          <li key={key.id}>
            <div>
              <strong>{key.owner}</strong> {key.name} <code>kai_{key.prefix}_…</code>
              <p class="quiet">
                {settings.roles[key.role]} · {stateOf(key)} ·{" "}
                {key.last_used_at === null ? settings.neverUsed : settings.lastUsed(moment(key.last_used_at))}
              </p>
            </div>
            {key.revoked_at === null && (
              <button
                type="button"
                class="icon-button"
                aria-label={`${settings.revoke}: ${key.owner} ${key.name}`}
                title={settings.revoke}
                onClick={() => orSay(revoke(key))}
              >
                <Icon of={Trash2} />
              </button>
            )}
          </li>
        ))}
      </ul>
      {next !== null && (
        <button type="button" class="button small" onClick={() => void load(next)}>
          {settings.older}
        </button>
      )}
    </>
  );
}

function stateOf({ revoked_at, expires_at }: ApiKey): string {
  const { revoked, expired, until, forever } = settings.state;
  if (revoked_at !== null) return revoked;
  if (expires_at === null) return forever;
  return Date.parse(expires_at) < Date.now() ? expired : until(moment(expires_at));
}

const EMPTY = { owner: "", name: "", role: "user" as ApiKey["role"], days: "90" };

/** A form for a key, whose text is shown once. */
function NewKey({ onMade }: { onMade: () => void }) {
  const [body, setBody] = useState(EMPTY);
  const [made, setMade] = useState<MadeApiKey | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const set = (part: Partial<typeof EMPTY>) => setBody({ ...body, ...part });
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    setProblem(null);
    try {
      const { owner, name, role, days } = body;
      setMade(await makeKey({ owner, name, role, scopes: [], days: days === "" ? null : Number(days) }));
      setBody(EMPTY);
      onMade();
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    <>
      <form class="form new-key" onSubmit={(event) => void onSubmit(event)}>
        <label>
          {settings.owner}
          <input
            required
            maxLength={255}
            autocomplete="off"
            value={body.owner}
            onInput={(event) => set({ owner: event.currentTarget.value })}
          />
        </label>
        <label>
          {settings.keyName}
          <input
            maxLength={200}
            autocomplete="off"
            value={body.name}
            onInput={(event) => set({ name: event.currentTarget.value })}
          />
        </label>
        <label>
          {settings.role}
          <select
            value={body.role}
            onChange={(event) => set({ role: event.currentTarget.value as ApiKey["role"] })}
          >
            <option value="user">{settings.roles.user}</option>
            <option value="admin">{settings.roles.admin}</option>
          </select>
        </label>
        <label>
          {settings.days}
          <input
            type="number"
            min={1}
            max={3650}
            title={settings.daysHint}
            placeholder={settings.state.forever}
            value={body.days}
            onInput={(event) => set({ days: event.currentTarget.value })}
          />
        </label>
        <button type="submit" class="button">
          <Icon of={KeyRound} /> {settings.make}
        </button>
      </form>
      {problem && <ProblemBox problem={problem} />}
      {made && (
        <div class="made-key" role="status">
          <p>{settings.made(made.owner)}</p>
          <code>{made.key}</code>
          <button type="button" class="button small" onClick={() => void copy(made.key, texts.copied)}>
            <Icon of={Copy} size={14} /> {settings.copyKey}
          </button>
        </div>
      )}
    </>
  );
}
