import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { explain } from "../provenance/made_button";
import type { AnswerVersion } from "../api/types";
import { tabWanted } from "../provenance/shown";
import { lazy } from "../shared/lazy";
import { SqlText } from "../shared/sql_text";
import { Tabs } from "../shared/tabs";
import { texts } from "../shared/texts";
import { panelHeight } from "./chart/height";
import { readChart } from "./chart/intent";
import type { Conversation } from "./conversation";
import { type Answer, type Exchange, type Head, isUnderWay, shownSql } from "./model";
import { AnswerRows } from "./rows/answer_rows";
import { CutNotice } from "./rows/cut_notice";
import { RowsPanel } from "./rows/lazy_rows";
import type { SqlShown } from "./sql/sql_panel";
import { inOrderOf, named, type Tab, tabsOf } from "./tabs_of";
import "./answer_card.css";

const ChartPanel = lazy(() => import("./chart/chart_panel"));
const FigurePanel = lazy(() => import("./figure/figure_panel"));
const VersionSwitch = lazy(() => import("./sql/version_switch"));
const SqlPanel = lazy(
  () => import("./sql/sql_panel"),
  ({ exchange: { answer }, version }: SqlShown) => (
    <SqlText key={answer.sql_pretty} sql={version?.sql_pretty ?? shownSql(answer)} />
  ),
);

/** The tabs as the reader's pointer has found them. They stay so until it leaves the card. */
interface Held {
  tabs: Tab[];
  shown: Tab;
}

interface Shown {
  exchange: Exchange;
  conversation: Conversation;
}

/** Chart, rows and SQL of an answer, one at a time: the most informative, or the analyst's choice. */
export function AnswerCard({ exchange, conversation }: Shown) {
  const { answer } = exchange;
  const root = useRef<HTMLElement>(null);
  const [chosen, choose] = useState<Tab | null>(null);
  const [picked, pick] = useState<number | null>(null);
  const version = versionOf(answer, picked);
  const chart = useMemo(() => (version ? null : readChart(answer.chart)), [answer.chart, version]);
  const [drawn, draw] = useState<Record<number, unknown>>({});
  const head = version ? headOf(version) : answer.head;
  const [held, hold] = useState<Held | null>(null);
  const tabs = inOrderOf(held?.tabs ?? [], tabsOf({ head, sql: answer.sql }, chart !== null));
  const rows = useMemo(() => {
    if (version) return new AnswerRows(conversation.sessionId, headOf(version), undefined, version.number);
    return answer.head ? new AnswerRows(conversation.sessionId, answer.head) : null;
  }, [answer.head, version]);
  useEffect(() => pick(null), [answer.versions.length]);
  useEffect(() => {
    const wanted = tabWanted.value;
    if (wanted?.exchange !== exchange.key) return;
    pick(wanted.version ?? 1);
    tabWanted.value = null;
    choose(wanted.tab);
    hold(null);
    if (wanted.tab === "table") root.current?.scrollIntoView({ block: "nearest" });
  }, [tabWanted.value]);
  if (rows && answer.messageId)
    rows.explain = answer.sql ? (column) => explain(exchange, conversation, column, version?.number) : null;
  useLayoutEffect(() => {
    if (rows && answer.messageId) rows.messageId = answer.messageId;
  }, [rows, answer.messageId]);
  const first = tabs[0];
  if (first === undefined) return null;
  const wanted = held?.shown ?? chosen;
  const shown = wanted !== null && tabs.includes(wanted) ? wanted : first;
  const show = (tab: Tab) => {
    choose(tab);
    hold(null);
  };
  // A pointer that rests where the card appears is no reader's: it moves, or presses, to hold the tab.
  const onReader = (event: PointerEvent) => {
    const moves = event.movementX !== 0 || event.movementY !== 0 || event.buttons !== 0;
    if (moves && held === null && isUnderWay(answer)) hold({ tabs, shown });
  };
  return (
    <section
      class="answer-card"
      ref={root}
      onPointerMove={onReader}
      onPointerDown={onReader}
      onPointerLeave={() => hold(null)}
    >
      {answer.versions.length > 0 && <VersionSwitch answer={answer} shown={version} show={pick} />}
      <Tabs label={texts.answer.tabs} tabs={tabs.map(named)} shown={shown} show={show}>
        {shown === "figure" && rows && <FigurePanel rows={rows} />}
        {shown === "chart" && (
          <div style={{ minHeight: `calc(${panelHeight(chart)}px + var(--chart-tools))` }}>
            <ChartPanel
              chart={chart}
              rows={rows}
              title={exchange.question}
              key={version?.number}
              choice={version ? drawn[version.number] : answer.chart_choice}
              computed={version ? null : answer.computed_chart}
              compute={
                version || answer.messageId === null
                  ? null
                  : (option) => conversation.computeChart(exchange, option)
              }
              choose={(choice) =>
                version
                  ? draw({ ...drawn, [version.number]: choice })
                  : conversation.chooseChart(exchange, choice)
              }
            />
            {rows?.cutBy && rows.cutBy !== "values" && <CutNotice by={rows.cutBy} />}
          </div>
        )}
        {shown === "table" && rows && (
          <RowsPanel key={version?.number} rows={rows} title={exchange.question} />
        )}
        {shown === "sql" && (
          <SqlPanel
            key={version?.number}
            exchange={exchange}
            conversation={conversation}
            version={version}
            onVersion={() => choose("table")}
          />
        )}
      </Tabs>
    </section>
  );
}

/** The picked version, or the latest; undefined for the answer's own statement. */
function versionOf({ versions }: Answer, picked: number | null): AnswerVersion | undefined {
  return picked === null ? versions.at(-1) : versions.find((each) => each.number === picked);
}

function headOf({ columns, row_count: rowCount, cut_by: cutBy }: AnswerVersion): Head {
  return { columns, rows: [], rowCount, cutBy };
}
