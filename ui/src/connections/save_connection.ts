import type { Connection } from "../api/types";
import { saveEdit } from "../shared/edits";
import { connectionOf, refreshConnections } from "./connections";
import { changeConnection, type ConnectionChange } from "./connections_api";
import { connectionTexts, form } from "./texts";

/** Saves changes of a connection as it was shown. If another edit came first, the reader chooses. */
export function saveConnection(connection: Connection, change: ConnectionChange): Promise<void> {
  const { id, version } = connection;
  return saveEdit({
    version,
    send: (version) => changeConnection(id, change, version),
    read: async () => {
      await refreshConnections();
      return connectionOf(id);
    },
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
    ],
  });
}
