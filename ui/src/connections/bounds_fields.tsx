import type { Connection } from "../api/types";
import type { ConnectionChange } from "./connections_api";
import { form } from "./texts";

/** The two bounds as they are typed; empty for none. */
export interface Bounds {
  ask: string;
  refuse: string;
}

const ESTIMATING = ["postgres", "mysql", "clickhouse"];

/** Whether the database estimates how many rows a statement goes through. */
export const estimatesRows = ({ dialect }: Connection) => ESTIMATING.includes(dialect);

export function boundsOf({ ask_above_rows, refuse_above_rows }: Connection): Bounds {
  return { ask: String(ask_above_rows ?? ""), refuse: String(refuse_above_rows ?? "") };
}

/** The bounds that are others than those of the connection. */
export function boundsChange(bounds: Bounds, connection: Connection): ConnectionChange {
  const before = boundsOf(connection);
  return {
    ...(bounds.ask !== before.ask && { ask_above_rows: Number(bounds.ask) }),
    ...(bounds.refuse !== before.refuse && { refuse_above_rows: Number(bounds.refuse) }),
  };
}

/** The rows above which a statement waits for an approval, and above which it is refused. */
export function BoundsFields({ bounds, set }: { bounds: Bounds; set: (part: Partial<Bounds>) => void }) {
  const fields = { ask: form.askAbove, refuse: form.refuseAbove };
  return (
    <>
      {(["ask", "refuse"] as const).map((each) => (
        <label key={each}>
          {fields[each]}
          <input
            type="number"
            min={0}
            max={Number.MAX_SAFE_INTEGER}
            value={bounds[each]}
            onInput={(event) => set({ [each]: event.currentTarget.value })}
          />
          <small>{form.boundsHint}</small>
        </label>
      ))}
    </>
  );
}
