import { Trash2 } from "lucide";
import { useState } from "preact/hooks";
import type { Schedule } from "../api/types";
import { IconButton } from "../shared/icon_button";
import { targetTexts } from "./targets_texts";

export type NewTarget = { id: string } | { address: string } | { url: string };

interface Shown {
  /** The targets that the schedule has. */
  kept: Schedule["targets"];
  /** All targets that are wanted, after each change. */
  onChange: (targets: NewTarget[]) => void;
}

/** Asks for the mail addresses and the chat that shall get the notices. */
export function TargetsField({ kept, onChange }: Shown) {
  const [left, setLeft] = useState(kept);
  const [mail, setMail] = useState("");
  const [chat, setChat] = useState("");
  const tell = (targets: Schedule["targets"], addresses: string, url: string) => {
    setLeft(targets);
    setMail(addresses);
    setChat(url);
    const named = addresses.split(/[\s,;]+/).filter((each) => each !== "");
    onChange([
      ...targets.map(({ id }) => ({ id })),
      ...named.map((address) => ({ address })),
      ...(url.trim() === "" ? [] : [{ url: url.trim() }]),
    ]);
  };
  const without = (id: string) => left.filter((each) => each.id !== id);
  return (
    <fieldset class="targets">
      <legend>{targetTexts.legend}</legend>
      {left.length > 0 && (
        <ul>
          {left.map(({ id, label }) => (
            <li key={id}>
              {label}
              <IconButton
                label={targetTexts.remove(label)}
                icon={Trash2}
                size={15}
                onClick={() => tell(without(id), mail, chat)}
              />
            </li>
          ))}
        </ul>
      )}
      <label>
        {targetTexts.mail}
        <input
          type="text"
          inputMode="email"
          autoComplete="off"
          maxLength={2_550}
          placeholder={targetTexts.address}
          value={mail}
          onInput={(event) => tell(left, event.currentTarget.value, chat)}
        />
      </label>
      <label>
        {targetTexts.chat}
        <input
          type="text"
          autoComplete="off"
          maxLength={2_000}
          value={chat}
          onInput={(event) => tell(left, mail, event.currentTarget.value)}
        />
        <small class="quiet">{targetTexts.chatHint}</small>
      </label>
    </fieldset>
  );
}
