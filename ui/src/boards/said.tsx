import { Clock, LoaderCircle, Lock, TriangleAlert, Unplug, Wrench } from "lucide";
import type { Pin } from "../api/types";
import { openWith } from "../conversation/opening";
import { Icon } from "../shared/icon";
import { orSay } from "../shared/or_say";
import { createRepairSession } from "./boards_api";
import { shortly } from "./when";
import { boardTexts } from "./texts";

/** What is to be said of a pin's rows, if they are not the present ones. */
export function Said({ pin }: { pin: Pin }) {
  const last = pin.ran_at ? boardTexts.lastGood(shortly(pin.ran_at)) : "";
  switch (pin.state) {
    case "current":
      return null;
    case "running":
      return (
        <p class="tile-said running">
          <Icon of={LoaderCircle} size={14} /> {boardTexts.runs}
        </p>
      );
    case "stale":
      return (
        <p class="tile-said">
          <Icon of={Clock} size={14} /> {pin.ran_at ? boardTexts.stale : boardTexts.noRows}
        </p>
      );
    case "connection_gone":
      return (
        <p class="tile-said warn">
          <Icon of={Unplug} size={14} /> {boardTexts.connectionGone} {last}
        </p>
      );
    case "no_right":
      return (
        <p class="tile-said warn">
          <Icon of={Lock} size={14} /> {boardTexts.noRight} {last}
        </p>
      );
    case "failed":
      return <Failed pin={pin} last={last} />;
  }
}

function Failed({ pin, last }: { pin: Pin; last: string }) {
  const { failure } = pin;
  const isStatement = failure?.type === "urn:kai:statement-failed";
  return (
    <div class="tile-said failed" role="group" aria-label={boardTexts.didNotRun}>
      <Icon of={TriangleAlert} size={14} />
      <div>
        <strong>{boardTexts.didNotRun}</strong> {failure?.detail}
        <p class="quiet">
          {isStatement ? boardTexts.repairLead : failure?.cure} {last}
        </p>
        {isStatement && (
          <button type="button" class="button small" onClick={() => orSay(repair(pin))}>
            <Icon of={Wrench} size={14} /> {boardTexts.repair}
          </button>
        )}
      </div>
    </div>
  );
}

/** Opens a session in which the statement runs as it is: there are the statement and its error, to correct. */
async function repair(pin: Pin): Promise<void> {
  const session = await createRepairSession(pin, boardTexts.repairOf(pin.title));
  openWith(session.id, { question: pin.question, sql: pin.sql });
}
