/** The panel of rows, whose code is fetched when rows are first shown. */
import { lazy } from "../../shared/lazy";
import { panelHeight } from "./height";

export const RowsPanel = lazy(
  () => import("./rows_panel"),
  ({ rows }) => <div style={{ height: `${panelHeight(rows.count)}px` }} />,
);
