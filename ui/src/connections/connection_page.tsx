import { ArrowLeft, Ellipsis, ListChecks, MessageSquarePlus, Pencil, RefreshCw, Unplug, Users } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { deleteConnection, shareConnection } from "../api/client";
import { asProblem } from "../api/problem";
import type { Connection, Problem, Scan, Table } from "../api/types";
import { mayChange } from "../identity/me";
import { busy } from "../shared/busy";
import { Icon } from "../shared/icon";
import { Menu } from "../shared/menu";
import { orSay } from "../shared/or_say";
import NotFound from "../shared/not_found";
import { ProblemBox } from "../shared/problem_box";
import { go, onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { moment } from "../shared/time";
import { say } from "../shared/toasts";
import { allTables, connectionOf, refreshConnections, rememberConnection } from "./connections";
import { ConnectionParts } from "./connection_parts";
import { EditForm } from "./edit_form";
import { scan } from "./scan";
import { ScanProgress } from "./scan_progress";
import { SchemasDialog } from "./schemas_dialog";
import { connectionTexts, form } from "./texts";
import "./connections.css";

const BEGUN: Scan = { state: "running", tables_total: null, tables_done: 0, error: null };

/** One database: its contents, as the last scan found them. */
export default function ConnectionPage({ connectionId }: { connectionId: string }) {
  const { tables, problem, scanning, isGone, rescan, change } = useTables(connectionId);
  const connection = connectionOf(connectionId);
  useEffect(() => {
    document.title = `${connection?.name ?? texts.connections.title} · ${texts.product}`;
  }, [connection?.name]);
  if (isGone) return <NotFound />;
  return (
    <div class="page">
      <a class="back" href="/connections" onClick={onLinkClick}>
        <Icon of={ArrowLeft} size={14} /> {connectionTexts.back}
      </a>
      {connection && <Head connection={connection} scanning={scanning !== null} scan={rescan} />}
      {scanning && <ScanProgress scan={scanning} />}
      {problem && <ProblemBox problem={problem} onRetry={mayChange(connection) ? rescan : undefined} />}
      {tables && (
        <ConnectionParts
          connectionId={connectionId}
          tables={tables}
          scannedAt={connection?.scanned_at ?? null}
          mayChange={mayChange(connection)}
          onChanged={change}
        />
      )}
    </div>
  );
}

/** The tables, and a scan of them; the first visit starts a scan. */
function useTables(connectionId: string) {
  const [tables, setTables] = useState<Table[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [scanning, setScanning] = useState<Scan | null>(null);
  const [isGone, setGone] = useState(false);
  const read = async (again: boolean) => {
    setProblem(null);
    try {
      // A list that was requested before this connection was made does not contain it.
      if (!connectionOf(connectionId)) await refreshConnections();
      const connection = connectionOf(connectionId);
      setGone(connection === undefined);
      if (again || connection?.scanned_at === null) setScanning(BEGUN);
      if (again) await scan(connectionId, setScanning);
      if (connection) setTables(await allTables(connection, setScanning));
      await refreshConnections();
    } catch (error) {
      setProblem(asProblem(error));
    }
    setScanning(null);
  };
  useEffect(() => void read(false), []);
  const change = (changed: Table) =>
    setTables((known) => known && known.map((each) => (each.name === changed.name ? changed : each)));
  return { tables, problem, scanning, isGone, rescan: () => void read(true), change };
}

function Head({
  connection,
  scanning,
  scan,
}: {
  connection: Connection;
  scanning: boolean;
  scan: () => void;
}) {
  /** The connection as it was when its dialog was opened, while others change it. */
  const [editing, edit] = useState<Connection | null>(null);
  const [choosing, choose] = useState<Connection | null>(null);
  const { ask, more, neverScanned, removed, scan: scanText, scanned, sure } = connectionTexts;
  const start = () => {
    rememberConnection(connection.id);
    go("/");
  };
  const disconnect = async () => {
    try {
      await deleteConnection(connection.id);
      say(removed(connection.name));
      await refreshConnections();
      go("/connections");
    } catch (error) {
      say(asProblem(error).detail);
    }
  };
  const share = async () => {
    await shareConnection(connection.id, !connection.shared);
    await refreshConnections();
  };
  const items = [
    { icon: Pencil, label: form.edit, onSelect: () => edit(connection) },
    ...(connection.dialect === "sqlite"
      ? []
      : [{ icon: ListChecks, label: form.schemas, onSelect: () => choose(connection) }]),
    {
      icon: Users,
      label: connection.shared ? connectionTexts.unshare : connectionTexts.share,
      onSelect: () => orSay(share()),
    },
    {
      icon: Unplug,
      label: connectionTexts.remove,
      onSelect: () => confirm(sure(connection.name)) && void disconnect(),
    },
  ];
  return (
    <header class="page-head">
      <div>
        <h1>
          {connection.name}{" "}
          <span class="dialect">{connectionTexts.dialects[connection.dialect] ?? connection.dialect}</span>
        </h1>
        {connection.description && <p>{connection.description}</p>}
        <p class="quiet">
          <code>{connection.masked_url}</code> ·{" "}
          {connection.scanned_at ? scanned(moment(connection.scanned_at)) : neverScanned}
        </p>
        {connection.warnings.map((warning) => (
          <p class="warning" key={warning}>
            {warning}
          </p>
        ))}
      </div>
      <div class="page-actions database-actions">
        <button type="button" class="button primary" onClick={start}>
          <Icon of={MessageSquarePlus} /> {ask}
        </button>
        {mayChange(connection) && (
          <>
            <button type="button" class="button" {...busy(scanning, scan)}>
              <Icon of={RefreshCw} /> {scanText}
            </button>
            <Menu icon={Ellipsis} label={more(connection.name)} items={items} />
          </>
        )}
      </div>
      {editing && <EditForm connection={editing} onClose={() => edit(null)} onMoved={scan} />}
      {choosing && <SchemasDialog connection={choosing} onClose={() => choose(null)} onChanged={scan} />}
    </header>
  );
}
