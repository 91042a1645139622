import { Menu, Plus } from "lucide";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { signInNeeded } from "./api/credential";
import { StartPage } from "./conversation/start_page";
import { knowMe } from "./identity/me";
import { PaletteShortcut } from "./palette/shortcut";
import { Sidebar } from "./sessions/sidebar";
import { useArrival } from "./shared/arrival";
import { Icon } from "./shared/icon";
import { lazy } from "./shared/lazy";
import { onLinkClick, type Route, route } from "./shared/route";
import { texts } from "./shared/texts";
import { Toasts } from "./shared/toasts";
import "./app.css";

const SignIn = lazy(() => import("./identity/sign_in"));
const ConversationPage = lazy(() => import("./conversation/conversation_page"));
const BoardsPage = lazy(() => import("./boards/boards_page"));
const BoardPage = lazy(() => import("./boards/board_page"));
const ConnectionsPage = lazy(() => import("./connections/connections_page"));
const RulesPage = lazy(() => import("./rules/rules_page"));
const ToolsPage = lazy(() => import("./tools/tools_page"));
const MemoryPage = lazy(() => import("./memory/memory_page"));
const SettingsPage = lazy(() => import("./settings/settings_page"));
const LinksPage = lazy(() => import("./sharing/links_page"));
const NotFound = lazy(() => import("./shared/not_found"));
const SchedulesPage = lazy(() => import("./schedules/schedules_page"));
const SharedPage = lazy(() => import("./sharing/shared_page"));
const ConnectionPage = lazy(() => import("./connections/connection_page"));

/** The page, under the sign-in screen while one is needed: what was typed there stays. */
export function App() {
  useEffect(() => void knowMe(), []);
  const isLocked = signInNeeded.value;
  useLayoutEffect(() => {
    if (!isLocked) return;
    const field = document.activeElement as HTMLElement | null;
    return () => field?.focus();
  }, [isLocked]);
  return (
    <>
      <Frame isLocked={isLocked} />
      {isLocked && <SignIn />}
    </>
  );
}

/** The frame: navigation at the side (a menu on narrow screens), beside it the page of the address. */
function Frame({ isLocked }: { isLocked: boolean }) {
  const [drawer, setDrawer] = useState(false);
  const here = route.value;
  useEffect(() => {
    // A link in the drawer is hidden with it.
    if (drawer) (document.activeElement as HTMLElement | null)?.blur();
    setDrawer(false);
  }, [here]);
  useArrival(here);
  return (
    <div class="app" data-drawer={drawer ? "open" : undefined} data-locked={isLocked ? "" : undefined}>
      <a class="skip" href="#main" onClick={skip}>
        {texts.skip}
      </a>
      <PhoneBar isOpen={drawer} toggle={() => setDrawer(!drawer)} />
      <Sidebar />
      {/* What scrolls is called main: a session scrolls between its head and the field for questions. */}
      <main {...(here.page === "session" ? {} : { id: "main", tabIndex: -1 })}>
        <Here route={here} />
      </main>
      <PaletteShortcut />
      <Toasts />
    </div>
  );
}

/** Above the page on a phone: the menu, and the way to a new question. */
function PhoneBar({ isOpen, toggle }: { isOpen: boolean; toggle: () => void }) {
  return (
    <header class="phone-bar">
      <button type="button" class="button plain" aria-expanded={isOpen} onClick={toggle}>
        <Icon of={Menu} /> {texts.navigation.menu}
      </button>
      <a class="phone-brand" href="/" onClick={onLinkClick}>
        {texts.product}
      </a>
      <a class="button plain" href="/" onClick={onLinkClick}>
        <Icon of={Plus} /> {texts.navigation.new}
      </a>
    </header>
  );
}

/** Goes to what scrolls, and leaves the address as it is: its part after `#` names an exchange. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Here({ route }: { route: Route }) {
  switch (route.page) {
    case "start":
      return <StartPage />;
    case "session":
      return <ConversationPage key={route.sessionId} sessionId={route.sessionId} />;
    case "boards":
      return <BoardsPage />;
    case "board":
      return <BoardPage key={route.boardId} boardId={route.boardId} />;
    case "connections":
      return <ConnectionsPage />;
    case "rules":
      return <RulesPage />;
    case "tools":
      return <ToolsPage />;
    case "memory":
      return <MemoryPage />;
    case "settings":
      return <SettingsPage />;
    case "links":
      return <LinksPage />;
    case "schedules":
      return <SchedulesPage />;
    case "shared":
      return <SharedPage key={route.linkId} linkId={route.linkId} />;
    case "unknown":
      return <NotFound />;
    case "connection":
      return <ConnectionPage key={route.connectionId} connectionId={route.connectionId} />;
  }
}
