import type { Connection } from "../api/types";
import { saveEdit } from "../shared/edits";
import { count } from "../shared/time";
import { refreshConnections } from "./connections";
import { changeConnection, type ConnectionChange, readConnection } from "./connections_api";
import { connectionTexts, form } from "./texts";

/** Saves changes of a connection as it was shown, and reads the connections again. If another edit came first,
 * the reader chooses. Returns whether the changes are saved. */
export async function saveConnection(connection: Connection, change: ConnectionChange): Promise<boolean> {
  const { id, version } = connection;
  const saved = await saveEdit({
    version,
    send: (version) => changeConnection(id, change, version),
    read: () => readConnection(id),
    beside: (theirs) => [
      { name: connectionTexts.name, mine: change.name ?? theirs.name, theirs: theirs.name },
      {
        name: connectionTexts.description,
        mine: change.description ?? theirs.description,
        theirs: theirs.description,
      },
      {
        name: form.schemas,
        mine: (change.schemas ?? theirs.schemas).join(", "),
        theirs: theirs.schemas.join(", "),
      },
      {
        name: form.askAbove,
        mine: boundText(change.ask_above_rows ?? theirs.ask_above_rows),
        theirs: boundText(theirs.ask_above_rows),
      },
      {
        name: form.refuseAbove,
        mine: boundText(change.refuse_above_rows ?? theirs.refuse_above_rows),
        theirs: boundText(theirs.refuse_above_rows),
      },
    ],
  });
  await refreshConnections();
  return saved;
}

const boundText = (rows: number | null) => (rows ? count(rows) : "");
