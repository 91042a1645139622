import { Pencil, Trash2 } from "lucide";
import { SqlText } from "../shared/sql_text";
import { Icon } from "../shared/icon";
import { texts } from "../shared/texts";
import { type Entry, FIELDS, type Kind } from "./knowledge";
import { knowledgeTexts } from "./texts";

interface Shown {
  kind: Kind;
  entry: Entry;
  mayChange: boolean;
  onEdit: () => void;
  onRemove: () => void;
}

export function EntryCard({ kind, entry, mayChange, onEdit, onRemove }: Shown) {
  const [first, ...others] = FIELDS[kind];
  const title = (first && entry[first.name]) ?? "";
  return (
    <article class="entry">
      <header>
        <h2>{title}</h2>
        {entry.fault && <span class="entry-status broken">{knowledgeTexts.broken}</span>}
        {entry.status && (
          <span class={`entry-status ${entry.status}`}>{knowledgeTexts.status[entry.status]}</span>
        )}
        {mayChange && (
          <>
            <button
              type="button"
              class="icon-button"
              aria-label={`${knowledgeTexts.edit}: ${title}`}
              onClick={onEdit}
            >
              <Icon of={Pencil} size={15} />
            </button>
            <button
              type="button"
              class="icon-button"
              aria-label={`${texts.remove}: ${title}`}
              onClick={onRemove}
            >
              <Icon of={Trash2} size={15} />
            </button>
          </>
        )}
      </header>
      {others.map(({ name, code }) => {
        const value = entry[name];
        if (!value) return null;
        return code ? <SqlText key={name} sql={value} /> : <p key={name}>{value}</p>;
      })}
      {!!entry.uses && <p class="quiet">{knowledgeTexts.helped(entry.uses)}</p>}
      {entry.fault && (
        <div class="entry-fault">
          <p>
            <strong>{knowledgeTexts.notUsed}</strong> {entry.fault}
          </p>
          {mayChange && (
            <button type="button" class="button small" onClick={onEdit}>
              {knowledgeTexts.repair}
            </button>
          )}
        </div>
      )}
    </article>
  );
}
