import type { Scan } from "../api/types";
import { Elapsed } from "../shared/elapsed";
import { useState } from "preact/hooks";
import { count } from "../shared/time";
import { connectionTexts } from "./texts";

/** Progress of a scan, as the server reports it. */
export function ScanProgress({ scan }: { scan: Scan }) {
  const [since] = useState(Date.now);
  const { scanning, scannedOf } = connectionTexts;
  const { tables_done: done, tables_total: total } = scan;
  return (
    <p class="scanning" role="status">
      <progress aria-label={scanning} {...(total !== null && { value: done, max: total })} />
      {total === null ? scanning : scannedOf(count(done), count(total))} <Elapsed since={since} />
    </p>
  );
}
