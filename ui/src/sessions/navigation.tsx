import {
  Bookmark,
  Clock,
  Database,
  type IconNode,
  LayoutDashboard,
  ListChecks,
  LogOut,
  MessageCircle,
  Settings2,
  Wrench,
} from "lucide";
import { useEffect } from "preact/hooks";
import { signOut } from "../api/credential";
import { connections } from "../connections/connections";
import { me } from "../identity/me";
import { countUnread, unread } from "../schedules/unread";
import { followsRules, investigates, knowCapabilities } from "../shared/capability";
import { Icon } from "../shared/icon";
import { IconButton } from "../shared/icon_button";
import { orSay } from "../shared/or_say";
import { onLinkClick, type Route, route } from "../shared/route";
import { texts } from "../shared/texts";

type Page = Route["page"];

/** Pages that a link of the navigation stands for. */
const WITHIN: Partial<Record<Page, Page>> = { session: "start", board: "boards", connection: "connections" };

interface Entry {
  page: Page;
  icon: IconNode;
  title: string;
  /** How many there are. */
  count?: number;
  /** How much is new there. */
  news?: number;
}

/** Links to the pages of KAI. */
export function Navigation() {
  useEffect(() => {
    const onSeen = () => document.hidden || countUnread();
    onSeen();
    document.addEventListener("visibilitychange", onSeen);
    return () => document.removeEventListener("visibilitychange", onSeen);
  }, []);
  const { ask } = texts.navigation;
  return (
    <ul class="navigation">
      <Place page="start" icon={MessageCircle} title={ask} />
      <Place page="boards" icon={LayoutDashboard} title={texts.boards.title} news={unread.value} />
      <Place
        page="connections"
        icon={Database}
        title={texts.connections.title}
        count={connections.value?.length ?? 0}
      />
      <Place page="memory" icon={Bookmark} title={texts.navigation.memory} />
      <Place page="schedules" icon={Clock} title={texts.boards.schedules} />
    </ul>
  );
}

function Place({ page, icon, title, count = 0, news = 0 }: Entry) {
  const here = WITHIN[route.value.page] ?? route.value.page;
  return (
    <li>
      <a
        href={page === "start" ? "/" : `/${page}`}
        aria-current={here === page ? "page" : undefined}
        onClick={onLinkClick}
      >
        <Icon of={icon} />
        {title}
        {news > 0 && (
          <>
            <span class="navigation-news">{news}</span>
            <span class="visually-hidden"> {texts.boards.news}</span>
          </>
        )}
        {count > 0 && (
          <span class="navigation-count" aria-hidden="true">
            {count}
          </span>
        )}
      </a>
    </li>
  );
}

/** What some KAI have, the settings, and who is signed in: at the foot nothing moves when they are known. */
export function SidebarFoot() {
  useEffect(knowCapabilities, []);
  const user = me.value && me.value.signed_in_by !== "local" ? me.value.owner : null;
  return (
    <footer class="sidebar-foot">
      <ul>
        {followsRules.value && <Place page="rules" icon={ListChecks} title={texts.rules.title} />}
        {investigates.value && <Place page="tools" icon={Wrench} title={texts.tools.title} />}
        <Place page="settings" icon={Settings2} title={texts.settings.title} />
      </ul>
      {user && (
        <span class="sidebar-user" title={user}>
          {user}
        </span>
      )}
      {user && (
        <IconButton icon={LogOut} label={texts.identity.signOut(user)} onClick={() => orSay(signOut())} />
      )}
    </footer>
  );
}
