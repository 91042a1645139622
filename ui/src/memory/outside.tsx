import { useState } from "preact/hooks";
import { allowExternalMemory, grantConsent, withdrawConsent } from "../api/client";
import type { Connection, Consent, GraphMemory } from "../api/types";
import { connections, refreshConnections } from "../connections/connections";
import { mayChange } from "../identity/me";
import { Dialog } from "../shared/dialog";
import { orSay } from "../shared/or_say";
import { texts } from "../shared/texts";
import { moment } from "../shared/time";
import { GraphService } from "./graph_service";
import { memoryTexts } from "./texts";

interface Shown {
  graph: GraphMemory;
  consents: Consent[];
  onChange: () => Promise<void>;
}

/** The graph memory service, and for each database whether it may remember the caller's questions. */
export function Outside({ graph, consents, onChange }: Shown) {
  return (
    <section class="entries">
      <GraphService graph={graph} onChange={onChange} />
      {connections.value?.map((each) => (
        <ConsentCard
          key={each.id}
          connection={each}
          consent={consents.find((consent) => consent.db_connection_id === each.id)}
          graph={graph}
          onChange={onChange}
        />
      ))}
    </section>
  );
}

interface ShownConsent {
  connection: Connection;
  consent: Consent | undefined;
  graph: GraphMemory;
  onChange: () => Promise<void>;
}

function ConsentCard({ connection, consent, graph, onChange }: ShownConsent) {
  const [reading, read] = useState(false);
  const { given, notGiven, notInForce, notAllowed, consent: label, withdraw, erase } = memoryTexts.outside;
  const allowed = connection.external_memory;
  const act = (done: Promise<unknown>) => orSay(done.then(onChange));
  const agree = () => {
    read(false);
    const { endpoint, text_version } = graph;
    act(grantConsent({ db_connection_id: connection.id, endpoint: endpoint ?? "", text_version }));
  };
  return (
    <article class="entry">
      <header>
        <h2>{connection.name}</h2>
      </header>
      {!allowed && <p class="quiet">{notAllowed}</p>}
      {consent ? (
        <p class="quiet">{given(moment(consent.granted_at), consent.endpoint)}</p>
      ) : (
        allowed && <p class="quiet">{notGiven}</p>
      )}
      {consent && !consent.in_force && <p class="warning">{notInForce}</p>}
      <div class="problem-actions">
        {graph.enabled && allowed && !consent?.in_force && (
          <button type="button" class="button small primary" onClick={() => read(true)}>
            {label}
          </button>
        )}
        {consent && (
          <>
            <button
              type="button"
              class="button small"
              onClick={() => act(withdrawConsent(connection.id, false))}
            >
              {withdraw}
            </button>
            <button
              type="button"
              class="button small"
              onClick={() => act(withdrawConsent(connection.id, true))}
            >
              {erase}
            </button>
          </>
        )}
        {graph.enabled && mayChange(connection) && <Allow connection={connection} />}
      </div>
      {reading && (
        <Dialog title={label} onClose={() => read(false)}>
          <p>{graph.consent_text}</p>
          <p class="quiet">
            {connection.name} → <code>{graph.endpoint}</code>
          </p>
          <div class="problem-actions">
            <button type="button" class="button primary" onClick={agree}>
              {label}
            </button>
            <button type="button" class="button" onClick={() => read(false)}>
              {texts.cancel}
            </button>
          </div>
        </Dialog>
      )}
    </article>
  );
}

/** Only a database's owner says whether it may be remembered outside at all. */
function Allow({ connection }: { connection: Connection }) {
  const { allow, disallow } = memoryTexts.outside;
  const change = async () => {
    await allowExternalMemory(connection.id, !connection.external_memory);
    await refreshConnections();
  };
  return (
    <button type="button" class="button small" onClick={() => orSay(change())}>
      {connection.external_memory ? disallow : allow}
    </button>
  );
}
