/** The ways to look at an answer, the most informative first. */
import { ChartColumn, Hash, type IconNode, Table2, Terminal } from "lucide";
import { texts } from "../shared/texts";
import { canBeDrawn } from "./chart/drawable";
import { isFigure } from "./figure/figure";
import type { Head } from "./model";

export type Tab = "figure" | "chart" | "table" | "sql";
const ICONS: Record<Tab, IconNode> = { figure: Hash, chart: ChartColumn, table: Table2, sql: Terminal };

export const named = (key: Tab) => ({ key, label: texts.answer[key], icon: ICONS[key] });

/** `charted`: the server has proposed a chart. */
export function tabsOf({ head, sql }: { head: Head | null; sql: string }, charted: boolean): Tab[] {
  const tabs: Tab[] = [];
  if (head && isFigure(head)) tabs.push("figure");
  if (charted) tabs.push("chart");
  if (head) tabs.push("table");
  if (!charted && head && canBeDrawn(head)) tabs.push("chart");
  if (sql) tabs.push("sql");
  return tabs;
}

/** The tabs, those of `before` first and in their order. */
export function inOrderOf(before: Tab[], tabs: Tab[]): Tab[] {
  return [...before.filter((each) => tabs.includes(each)), ...tabs.filter((each) => !before.includes(each))];
}
