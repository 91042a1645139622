import { Blank } from "./blank";
import { onLinkClick } from "./route";
import { notFoundTexts } from "./not_found_texts";
import { texts } from "./texts";

/** An address that names no page, or a thing that is not there for this reader. */
export default function NotFound() {
  const { title, lead, boards } = notFoundTexts;
  return (
    <div class="page">
      <Blank title={title} lead={lead(location.pathname)} isPage={true}>
        <a class="button primary" href="/" onClick={onLinkClick}>
          {texts.sessions.start}
        </a>
        <a class="button" href="/boards" onClick={onLinkClick}>
          {boards}
        </a>
      </Blank>
    </div>
  );
}
