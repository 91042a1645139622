import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { sayChart } from "../api/client";
import { explain } from "../provenance/made_button";
import type { AnswerVersion } from "../api/types";
import { tabWanted } from "../provenance/shown";
import { lazy } from "../shared/lazy";
import { Tabs } from "../shared/tabs";
import { texts } from "../shared/texts";
import { fetchCharts } from "./chart/fetched";
import { panelHeight } from "./chart/height";
import { readSpec } from "./chart/spec";
import type { Conversation } from "./conversation";
import { type Exchange, type Head, isUnderWay } from "./model";
import { AnswerRows } from "./rows/answer_rows";
import { CutNotice } from "./rows/cut_notice";
import { RowsPanel } from "./rows/lazy_rows";
import { inOrderOf, named, type Tab, tabsOf } from "./tabs_of";
import "./answer_card.css";

const ChartPanel = lazy(() => import("./chart/chart_panel"));
const ChartTools = lazy(() => import("./chart/chart_tools"));
const FigurePanel = lazy(() => import("./figure/figure_panel"));
const VersionSwitch = lazy(() => import("./sql/version_switch"));

/** The tabs as the reader's pointer has found them. They stay so until it leaves the card. */
interface Held {
  tabs: Tab[];
  shown: Tab;
}

interface Shown {
  exchange: Exchange;
  conversation: Conversation;
  /** Undefined for the answer's own statement. */
  version: AnswerVersion | undefined;
  /** Picks a version by its number; 1 is the answer's own statement. */
  pick: (number: number) => void;
}

/** Chart and rows of an answer, one at a time: the most informative, or the analyst's choice. */
export function AnswerCard({ exchange, conversation, version, pick }: Shown) {
  const { answer } = exchange;
  const root = useRef<HTMLElement>(null);
  const [chosen, choose] = useState<Tab | null>(null);
  const spec = useMemo(
    () => (version ? null : readSpec(answer.chosen_chart ?? answer.chart)),
    [answer.chosen_chart, answer.chart, version],
  );
  const head = version ? headOf(version) : answer.head;
  const [held, hold] = useState<Held | null>(null);
  const tabs = inOrderOf(
    held?.tabs ?? [],
    tabsOf(head, { charted: spec !== null, canChart: version === undefined }),
  );
  const rows = useMemo(() => {
    if (version) return new AnswerRows(conversation.sessionId, headOf(version), undefined, version.number);
    return answer.head ? new AnswerRows(conversation.sessionId, answer.head) : null;
  }, [answer.head, version]);
  useEffect(() => {
    if (isUnderWay(answer)) fetchCharts();
  }, []);
  useEffect(() => {
    const wanted = tabWanted.value;
    if (wanted?.exchange !== exchange.key || wanted.tab === "sql") return;
    if (wanted.version !== "latest") pick(wanted.version ?? 1);
    tabWanted.value = null;
    choose(wanted.tab);
    hold(null);
    root.current?.scrollIntoView({ block: "nearest" });
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
  const tools = shown === "chart" && (
    <ChartTools
      spec={spec}
      head={head}
      title={exchange.question}
      choice={answer.chart_choice}
      changes={{
        choose: (choice) => conversation.chooseChart(exchange, choice),
        connectionId: conversation.session.value?.db_connection_id,
        say: (words) => sayChart(conversation.sessionId, answer.messageId ?? "", words),
      }}
      ready={answer.messageId !== null}
    />
  );
  return (
    <section
      class="answer-card"
      ref={root}
      onPointerMove={onReader}
      onPointerDown={onReader}
      onPointerLeave={() => hold(null)}
    >
      {answer.versions.length > 0 && <VersionSwitch answer={answer} shown={version} show={pick} />}
      <Tabs label={texts.answer.tabs} tabs={tabs.map(named)} shown={shown} show={show} beside={tools}>
        {shown === "figure" && rows && <FigurePanel rows={rows} />}
        {shown === "chart" && (
          <div style={{ minHeight: `${panelHeight(spec)}px` }}>
            <ChartPanel spec={spec} head={head} choice={answer.chart_choice} refusal={answer.chart_refusal} />
            {rows?.cutBy && rows.cutBy !== "values" && <CutNotice by={rows.cutBy} />}
          </div>
        )}
        {shown === "table" && rows && (
          <RowsPanel key={version?.number} rows={rows} title={exchange.question} />
        )}
      </Tabs>
    </section>
  );
}

function headOf({ columns, row_count: rowCount, cut_by: cutBy }: AnswerVersion): Head {
  return { columns, rows: [], rowCount, cutBy };
}
