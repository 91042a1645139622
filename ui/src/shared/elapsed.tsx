import { useEffect, useState } from "preact/hooks";
import { duration } from "./time";

const TICK_MS = 100;

/** Elapsed time, updated while it runs. Zero if the server's clock is ahead of this one. */
export function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <span class="elapsed">{duration(Math.max(TICK_MS, now - since))}</span>;
}
