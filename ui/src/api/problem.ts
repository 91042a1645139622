import { texts } from "../shared/texts";
import type { Problem } from "./types";

/** An error response of the server, with its problem document. */
export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

/** Any error as a problem. `fetch` raises `TypeError` if a request did not reach the server. */
export function asProblem(error: unknown): Problem {
  if (error instanceof ApiError) return inOwnWords(error.problem);
  const offline = error instanceof TypeError;
  const { offlineTitle, offlineDetail, unexpected } = texts.problems;
  return {
    type: offline ? "urn:kai:offline" : "about:blank",
    title: offline ? offlineTitle : unexpected,
    status: 0,
    detail: offline ? offlineDetail : String(error),
  };
}

/** Refusals of the API's own protocol tell an integrator what to send; people read what they can do. */
function inOwnWords(problem: Problem): Problem {
  const words: Partial<Record<string, string>> = texts.problems.byType;
  const detail = words[problem.type];
  return detail === undefined ? problem : { ...problem, title: texts.problems.notNow, detail };
}

/** The body of an error response as a problem; without an explanation it names the status. */
export function problemIn(body: unknown, status: number): Problem {
  if (typeof body === "object" && body !== null && "detail" in body && "title" in body)
    return body as Problem;
  const { unexpected, unexplained } = texts.problems;
  return { type: "about:blank", title: unexpected, status, detail: unexplained(status) };
}
