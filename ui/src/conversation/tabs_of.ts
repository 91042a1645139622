/** The ways to look at an answer, the most informative first. */
import { ChartColumn, Hash, type IconNode, Table2 } from "lucide";
import { texts } from "../shared/texts";
import { canBeDrawn } from "./chart/drawable";
import { isFigure } from "./figure/figure";
import type { Head } from "./model";

export type Tab = "figure" | "chart" | "table";
const ICONS: Record<Tab, IconNode> = { figure: Hash, chart: ChartColumn, table: Table2 };

export const named = (key: Tab) => ({ key, label: texts.answer[key], icon: ICONS[key] });

interface Charts {
  /** There is a chart. */
  charted: boolean;
  /** The reader may have one made of the rows. */
  canChart: boolean;
}

export function tabsOf(head: Head | null, { charted, canChart }: Charts): Tab[] {
  const tabs: Tab[] = [];
  if (head && isFigure(head)) tabs.push("figure");
  if (charted) tabs.push("chart");
  if (head) tabs.push("table");
  if (!charted && canChart && head && canBeDrawn(head)) tabs.push("chart");
  return tabs;
}

/** The tabs, those of `before` first and in their order. */
export function inOrderOf(before: Tab[], tabs: Tab[]): Tab[] {
  return [...before.filter((each) => tabs.includes(each)), ...tabs.filter((each) => !before.includes(each))];
}
