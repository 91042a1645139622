import { Plus } from "lucide";
import { useEffect, useState } from "preact/hooks";
import type { Connection } from "../api/types";
import { mayManage } from "../identity/me";
import { Blank } from "../shared/blank";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/icon";
import { ProblemBox } from "../shared/problem_box";
import { onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { moment } from "../shared/time";
import { lazy } from "../shared/lazy";
import { AddForm } from "./add_form";
import { connections, problem, refreshConnections } from "./connections";
import { connectionTexts } from "./texts";
import { useUnsent } from "../identity/unsent";
import "./connections.css";

const ReviewQueue = lazy(() => import("../knowledge/review_queue"));
const FileForm = lazy(() => import("../uploads/file_form"));

/** The databases that can be asked. */
export default function ConnectionsPage() {
  const [adding, setAdding] = useUnsent("new connection", false);
  const [read, setRead] = useState(false);
  const add = () => {
    setRead(false);
    setAdding(true);
  };
  useEffect(() => {
    document.title = `${texts.connections.title} · ${texts.product}`;
    void refreshConnections();
  }, []);
  return (
    <div class="page">
      <header class="page-head">
        <h1>{texts.connections.title}</h1>
        {mayManage.value && (
          <button type="button" class="button primary" onClick={add}>
            <Icon of={Plus} /> {connectionTexts.add}
          </button>
        )}
      </header>
      {problem.value && <ProblemBox problem={problem.value} onRetry={() => void refreshConnections()} />}
      {mayManage.value && connections.value && <ReviewQueue />}
      <List />
      {adding && (
        <Dialog title={connectionTexts.add} onClose={() => setAdding(false)}>
          <FileForm onRead={() => setRead(true)} />
          {!read && <AddForm />}
        </Dialog>
      )}
    </div>
  );
}

function List() {
  if (connections.value === null) return <div aria-busy={problem.value === null} />;
  if (connections.value.length === 0)
    return <Blank title={connectionTexts.none} lead={connectionTexts.noneLead} />;
  return (
    <ul class="connection-list">
      {connections.value.map((each) => (
        <Entry key={each.id} connection={each} />
      ))}
    </ul>
  );
}

function Entry({ connection }: { connection: Connection }) {
  const { tables, scanned, neverScanned } = connectionTexts;
  return (
    <li>
      <a href={`/connections/${connection.id}`} onClick={onLinkClick}>
        <strong>{connection.name}</strong>
        <span class="dialect">{connectionTexts.dialects[connection.dialect] ?? connection.dialect}</span>
        {connection.shared && <span class="dialect">{connectionTexts.shared}</span>}
        {connection.description && <p>{connection.description}</p>}
        <p class="quiet">
          <code>{connection.masked_url}</code>
        </p>
        <p class="quiet">
          {connection.table_count !== null && `${tables(connection.table_count)} · `}
          {connection.scanned_at ? scanned(moment(connection.scanned_at)) : neverScanned}
        </p>
      </a>
    </li>
  );
}
