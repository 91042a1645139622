import type { Problem } from "../api/types";
import { lazy } from "./lazy";
import { ProblemBox } from "./problem_box";

const NotFound = lazy(() => import("./not_found"));

/** In place of a page whose thing could not be read: it is not there for this reader, or reading failed. */
export function Unread({ problem, onRetry }: { problem: Problem; onRetry: () => void }) {
  if (problem.status === 404) return <NotFound />;
  return (
    <div class="page">
      <ProblemBox problem={problem} onRetry={onRetry} />
    </div>
  );
}
