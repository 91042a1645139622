import type { Problem } from "./types";

/** A refusal of the server, in its own words. */
export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

/** Any error as a problem: what never reached the server is `offline`. */
export function asProblem(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem;
  return {
    type: "urn:kai:offline",
    title: "KAI cannot be reached",
    status: 0,
    detail: "The server does not answer. Check that it runs and that this machine is connected.",
  };
}

/** The body of a refusal as a problem; one that explains nothing at least names its status. */
export function problemIn(body: unknown, status: number): Problem {
  if (typeof body === "object" && body !== null && "detail" in body && "title" in body)
    return body as Problem;
  const detail = `The server answered with status ${status} and no explanation.`;
  return { type: "about:blank", title: `Error ${status}`, status, detail };
}
