import { Copy, Link2 } from "lucide";
import { useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { LinkKind, Problem, SharedLink } from "../api/types";
import { copy } from "../shared/copy";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/icon";
import { orSay } from "../shared/or_say";
import { ProblemBox } from "../shared/problem_box";
import { onLinkClick } from "../shared/route";
import { shortly } from "../boards/when";
import { addressOf, makeLink } from "./links_api";
import { linkTexts } from "./texts";
import "./sharing.css";

const DEFAULT_DAYS = 30;

interface Shown {
  kind: LinkKind;
  thingId: string;
  /** Name of the database, if it is one. */
  database: string | undefined;
  onClose: () => void;
}

/** Says what a link shows, to whom and how long, and makes it. */
export default function LinkDialog({ kind, thingId, database, onClose }: Shown) {
  const [days, setDays] = useState(DEFAULT_DAYS);
  const [preview, setPreview] = useState(false);
  const [link, setLink] = useState<SharedLink | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const make = (event: Event) => {
    event.preventDefault();
    setProblem(null);
    makeLink(kind, thingId, { days, preview }).then(setLink, (error: unknown) =>
      setProblem(asProblem(error)),
    );
  };
  return (
    <Dialog title={linkTexts.titles[kind]} onClose={onClose}>
      {link ? (
        <Made link={link} />
      ) : (
        <form class="form" onSubmit={make}>
          <dl class="link-terms">
            <dt>{linkTexts.shows}</dt>
            <dd>{linkTexts.showsOf[kind]}</dd>
            <dt>{linkTexts.keeps}</dt>
            <dd>{linkTexts.keepsOf[kind]}</dd>
            <dt>{linkTexts.readers}</dt>
            <dd>{linkTexts.readersOf(database)}</dd>
          </dl>
          <label>
            {linkTexts.lifetime}
            <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
              {linkTexts.lifetimes.map((each) => (
                <option key={each.days} value={each.days}>
                  {each.label}
                </option>
              ))}
            </select>
          </label>
          {kind === "answer" && (
            <label class="check">
              <input
                type="checkbox"
                checked={preview}
                onChange={(event) => setPreview(event.currentTarget.checked)}
              />
              <span>
                {linkTexts.preview} <small>{linkTexts.previewHint}</small>
              </span>
            </label>
          )}
          {problem && <ProblemBox problem={problem} />}
          <div class="link-foot">
            <button type="submit" class="button primary">
              <Icon of={Link2} /> {linkTexts.make}
            </button>
            <AllLinks onClose={onClose} />
          </div>
        </form>
      )}
      {link && <AllLinks onClose={onClose} />}
    </Dialog>
  );
}

function Made({ link }: { link: SharedLink }) {
  const address = addressOf(link.id);
  return (
    <div class="form link-made" role="status">
      <p>{linkTexts.made(shortly(link.expires_at))}</p>
      <div class="link-address">
        <input
          readOnly
          aria-label={linkTexts.address}
          value={address}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" class="button primary" onClick={() => orSay(copy(address, linkTexts.copied))}>
          <Icon of={Copy} /> {linkTexts.copy}
        </button>
      </div>
    </div>
  );
}

function AllLinks({ onClose }: { onClose: () => void }) {
  const follow = (event: MouseEvent) => {
    onLinkClick(event);
    if (event.defaultPrevented) onClose();
  };
  return (
    <a class="link-all" href="/links" onClick={follow}>
      {linkTexts.all}
    </a>
  );
}
