/** Starts a scan of a schema and follows its progress. */
import { readScan, startScan } from "../api/client";
import { ApiError } from "../api/problem";
import type { Scan } from "../api/types";
import { texts } from "../shared/texts";

const POLL_MS = 400;

/** Resolves when the schema is read. Raises `ApiError` if it cannot be read. */
export async function scan(connectionId: string, onProgress: (scan: Scan) => void): Promise<void> {
  let now = await startScan(connectionId);
  while (now.state === "running") {
    onProgress(now);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    now = await readScan(connectionId);
  }
  if (now.state === "failed") throw failed(now);
}

function failed({ error }: Scan): ApiError {
  const title = texts.connections.scanFailed;
  return new ApiError({ type: "urn:kai:scan-failed", title, status: 503, detail: error ?? title });
}
