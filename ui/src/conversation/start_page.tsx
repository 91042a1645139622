import { useEffect, useState } from "preact/hooks";
import type { About } from "../api/client";
import { asProblem } from "../api/problem";
import type { Connection } from "../api/types";
import { connections, problem, refreshConnections, usualConnection } from "../connections/connections";
import { knowMe, mayManage, me } from "../identity/me";
import { ProblemBox } from "../shared/problem_box";
import { lazy } from "../shared/lazy";
import { boardToFill, onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { say } from "../shared/toasts";
import { Composer } from "./composer";
import { draftOfStart } from "./draft";
import { ModeTag } from "./mode_tag";
import { openSession } from "./opening";
import { keptUntil } from "../identity/unsent";
import { WriterSign } from "./writer_sign";
import "./start_page.css";

const Overview = lazy(() => import("../overview/overview"));

const ForBoard = lazy(
  () => import("../boards/for_board"),
  () => <p class="for-board" />,
);

/** The start page: pick a database, ask, or choose an example. */
export function StartPage() {
  const [chosen, choose] = useState<string | null>(null);
  const [knows, setKnows] = useState(me.value !== null); // whose unsent question it is
  useEffect(() => void refreshConnections(), []);
  useEffect(() => void knowMe().then(() => setKnows(true)), []);
  useEffect(() => {
    document.title = texts.product;
    void import("./conversation_page"); // fetched early: it will show the answer
  }, []);
  if (problem.value && connections.value === null) {
    return <ProblemBox problem={problem.value} onRetry={() => void refreshConnections()} />;
  }
  if (connections.value === null || !knows) return <div class="start" aria-busy="true" />;
  const wanted = chosen ?? draftOfStart()?.connectionId;
  const connection = connections.value.find((each) => each.id === wanted) ?? usualConnection();
  return connection ? <Ready connection={connection} choose={choose} /> : <NothingConnected />;
}

function Ready({ connection, choose }: { connection: Connection; choose: (id: string) => void }) {
  const [opening, setOpening] = useState(false);
  const proposed = draftOfStart();
  const boardId = boardToFill();
  const place = `start.${me.value?.owner ?? ""}`; // another user may sign in to the same tab
  const ask = (question: string, about?: About) => {
    setOpening(true);
    const opened = openSession(connection.id, question, { about, boardId });
    keptUntil(opened, place, question).catch((error: unknown) => {
      setOpening(false);
      say(asProblem(error).detail);
    });
  };
  return (
    <>
      <div class="start">
        <h1>{texts.start.title}</h1>
        <p class="lead">{texts.start.lead}</p>
        {boardId && <ForBoard key={boardId} boardId={boardId} />}
        <Composer
          place={place}
          placeholder={texts.composer.placeholder}
          asked={[]}
          running={false}
          disabled={opening}
          proposed={proposed?.connectionId === connection.id ? proposed : null}
          onAsk={ask}
        >
          <select
            aria-label={texts.start.connection}
            value={connection.id}
            onChange={(event) => choose(event.currentTarget.value)}
          >
            {connections.value?.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
          <ModeTag mode="ask" />
          <WriterSign />
        </Composer>
      </div>
      <Overview key={connection.id} connection={connection} onAsk={ask} />
    </>
  );
}

function NothingConnected() {
  if (me.value === null) return <div class="start" aria-busy="true" />;
  if (!mayManage.value) {
    return (
      <div class="start">
        <h1>{texts.start.nothingShared}</h1>
        <p class="lead">{texts.start.nothingSharedLead}</p>
      </div>
    );
  }
  return (
    <div class="start">
      <h1>{texts.start.noConnections}</h1>
      <p class="lead">{texts.start.noConnectionsLead}</p>
      <a class="button primary" href="/connections" onClick={onLinkClick}>
        {texts.start.connect}
      </a>
    </div>
  );
}
