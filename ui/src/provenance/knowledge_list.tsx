import type { ComponentChildren } from "preact";
import type { Provenance } from "../api/types";
import { onLinkClick } from "../shared/route";
import { dateText } from "../shared/time";
import type { ShownProvenance } from "./shown";
import { provenanceTexts } from "./texts";
import { verifiedTexts } from "./verified_texts";

/** What the statement's author knew; each definition leads to where it is corrected. */
export function KnowledgeList({ made, shown }: { made: Provenance; shown: ShownProvenance }) {
  const t = provenanceTexts;
  const { knowledge } = made;
  const own = shown.version !== undefined || shown.exchange.sql !== undefined;
  if (!knowledge) return <p class="quiet">{own ? t.own : t.knewNothing}</p>;
  const { terms, instructions, examples, facts, tables, deleted_count } = knowledge;
  const place = shown.connectionId && `/connections/${shown.connectionId}`;
  const none = !(terms.length + instructions.length + examples.length + facts.length);
  return (
    <>
      <ul class="made-knowledge">
        {terms.map((each) => (
          <Entry key={each.id} kind={t.term} href={place} changed={each.is_changed}>
            <strong>{each.term}</strong> {each.meaning}
            {each.sql && <code>{each.sql}</code>}
          </Entry>
        ))}
        {instructions.map((each) => (
          <Entry key={each.id} kind={t.instruction} href={place} changed={each.is_changed}>
            {each.scope && <strong>{each.scope}: </strong>}
            {each.text}
          </Entry>
        ))}
        {examples.map((each) => (
          <Entry key={each.id} kind={t.example} href={place} changed={each.is_changed}>
            {each.question}{" "}
            {each.verified_by && each.verified_at && (
              <span class="quiet">
                {verifiedTexts.by(each.verified_by, dateText(each.verified_at, "day"))}
              </span>
            )}
            {each.is_statement && <strong class="made-same">{t.sameStatement}</strong>}
          </Entry>
        ))}
        {facts.map((each) => (
          <Entry key={each.id} kind={t.fact} href="/memory" changed={false}>
            {each.text}
          </Entry>
        ))}
      </ul>
      {none && <p class="quiet">{t.noDefinitions}</p>}
      {tables.length > 0 && <p class="quiet">{t.tablesLooked(tables.length)}</p>}
      {deleted_count > 0 && <p class="quiet">{t.deleted(deleted_count)}</p>}
    </>
  );
}

interface EntryShown {
  kind: string;
  href: string | null;
  changed: boolean;
  children: ComponentChildren;
}

function Entry({ kind, href, changed, children }: EntryShown) {
  return (
    <li>
      <span>{children}</span>
      {href ? (
        <a href={href} onClick={onLinkClick}>
          {kind}
        </a>
      ) : (
        <span class="quiet">{kind}</span>
      )}
      {changed && <em>{provenanceTexts.changed}</em>}
    </li>
  );
}
