import { Bell } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../shared/icon";
import { orSay } from "../shared/or_say";
import { onLinkClick } from "../shared/route";
import { moment } from "../shared/time";
import { listNotices, markRead, type NoticesPage } from "./schedules_api";
import { addressOf, notSentOf, sentenceOf } from "./said";
import { scheduleTexts } from "./texts";
import { unread } from "./unread";
import "./schedules.css";

/** What happened at the times of schedules, the latest first. Nothing where nothing did. */
export default function Notices() {
  const [page, setPage] = useState<NoticesPage | null>(null);
  const load = async (cursor?: string) => {
    const found = await listNotices(cursor);
    unread.value = found.unread;
    setPage((before) =>
      cursor !== undefined && before ? { ...found, items: [...before.items, ...found.items] } : found,
    );
  };
  useEffect(() => orSay(load()), []);
  const newest = page?.items[0];
  if (!page || !newest) return null;
  return (
    <section class="notices" aria-labelledby="notices">
      <header>
        <h2 id="notices">
          <Icon of={Bell} size={18} /> {scheduleTexts.happened}
        </h2>
        {page.unread > 0 && (
          <>
            <strong role="status">{scheduleTexts.unread(page.unread)}</strong>
            <button
              type="button"
              class="button small"
              onClick={() => orSay(markRead(newest).then(() => load()))}
            >
              {scheduleTexts.read}
            </button>
          </>
        )}
      </header>
      <ul class="schedule-list">
        {page.items.map((each) => (
          <li key={each.id}>
            <span>
              <a href={addressOf(each)} onClick={onLinkClick}>
                {each.title}
              </a>{" "}
              {sentenceOf(each)}
              {notSentOf(each).map((reason) => (
                <span key={reason} class="quiet schedule-state">
                  {reason}
                </span>
              ))}
            </span>
            <time class="quiet" dateTime={each.at}>
              {moment(each.at)}
            </time>
          </li>
        ))}
      </ul>
      {page.next_cursor !== null && (
        <button
          type="button"
          class="button small older"
          onClick={() => orSay(load(page.next_cursor ?? undefined))}
        >
          {scheduleTexts.more}
        </button>
      )}
    </section>
  );
}
