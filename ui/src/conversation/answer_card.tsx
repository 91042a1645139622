import { ChartColumn, type IconNode, Table2, Terminal } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { lazy } from "../shared/lazy";
import { Tabs } from "../shared/tabs";
import { texts } from "../shared/texts";
import { drawnHeight } from "./chart/height";
import { readChart } from "./chart/intent";
import type { Conversation } from "./conversation";
import type { Answer, Exchange } from "./model";
import { AnswerRows } from "./rows/answer_rows";
import { CutNotice } from "./rows/cut_notice";
import { RowsPanel } from "./rows/rows_panel";
import { SqlPanel } from "./sql/sql_panel";
import "./answer_card.css";

const ChartPanel = lazy(() => import("./chart/chart_panel"));

/** Space around a chart, in pixels. */
const TOOLS = 72;

type Tab = "chart" | "table" | "sql";
const ICONS: Record<Tab, IconNode> = { chart: ChartColumn, table: Table2, sql: Terminal };

interface Shown {
  exchange: Exchange;
  conversation: Conversation;
}

/** Chart, rows and SQL of an answer, one at a time: the most informative, or the analyst's choice. */
export function AnswerCard({ exchange, conversation }: Shown) {
  const { answer } = exchange;
  const [chosen, choose] = useState<Tab | null>(null);
  const chart = useMemo(() => readChart(answer.chart), [answer.chart]);
  const tabs = tabsOf(answer, chart !== null);
  const rows = useMemo(
    () => (answer.head ? new AnswerRows(conversation.sessionId, answer.head) : null),
    [answer.head],
  );
  if (rows && answer.messageId) rows.messageId = answer.messageId;
  const first = tabs[0];
  if (first === undefined) return null;
  const shown = chosen !== null && tabs.includes(chosen) ? chosen : first;
  return (
    <section class="answer-card">
      <Tabs label={texts.answer.tabs} tabs={tabs.map(named)} shown={shown} show={choose}>
        {shown === "chart" && chart && (
          <div style={{ minHeight: `${drawnHeight(chart) + TOOLS}px` }}>
            <ChartPanel chart={chart} rows={rows} title={exchange.question} />
            {rows?.cutBy && rows.cutBy !== "values" && <CutNotice by={rows.cutBy} />}
          </div>
        )}
        {shown === "table" && rows && <RowsPanel rows={rows} title={exchange.question} />}
        {shown === "sql" && <SqlPanel exchange={exchange} conversation={conversation} />}
      </Tabs>
    </section>
  );
}

const named = (key: Tab) => ({ key, label: texts.answer[key], icon: ICONS[key] });

function tabsOf(answer: Answer, charted: boolean): Tab[] {
  const tabs: Tab[] = [];
  if (charted) tabs.push("chart");
  if (answer.head) tabs.push("table");
  if (answer.sql) tabs.push("sql");
  return tabs;
}
