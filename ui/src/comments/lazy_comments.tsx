import { lazy } from "../shared/lazy";

/** The comments on an answer or a board; fetched when it is shown, and its place is kept until then. */
export const Comments = lazy(
  () => import("./comments"),
  () => <div style={{ minHeight: "2.5rem" }} />,
);
