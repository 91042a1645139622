import { useMemo, useRef, useState } from "preact/hooks";
import { Analysis } from "../conversation/analysis/analysis";
import { Headline, Reading } from "../conversation/analysis/answer_text";
import { panelHeight } from "../conversation/chart/height";
import { readChart } from "../conversation/chart/intent";
import { Findings, originIn } from "../conversation/investigation/findings";
import { type Exchange, shownSql } from "../conversation/model";
import { CutNotice } from "../conversation/rows/cut_notice";
import { RowsPanel } from "../conversation/rows/lazy_rows";
import { Timeline } from "../conversation/steps/timeline";
import { named, type Tab, tabsOf } from "../conversation/tabs_of";
import { lazy } from "../shared/lazy";
import { ProblemBox } from "../shared/problem_box";
import { useInSight } from "../shared/sight";
import { SqlText } from "../shared/sql_text";
import { Tabs } from "../shared/tabs";
import { texts } from "../shared/texts";
import { SharedRows } from "./shared_rows";
import { linkTexts } from "./texts";
import "../conversation/answer_card.css";
import "../conversation/exchange.css";

const ChartPanel = lazy(() => import("../conversation/chart/chart_panel"));
const FigurePanel = lazy(() => import("../conversation/figure/figure_panel"));

interface Shown {
  exchange: Exchange;
  linkId: string;
}

/** A question and its answer, to read: nothing can be asked, rated or changed. */
export function SharedExchange({ exchange, linkId }: Shown) {
  const root = useRef<HTMLElement>(null);
  const seen = useInSight(root);
  const { answer, question } = exchange;
  const origin = originIn(answer, null);
  return (
    <article class="exchange" ref={root}>
      <h2 class="question">{question}</h2>
      <div class="answer-meta">
        <Timeline answer={answer} sessionId={null} link="live" given={exchange.sql !== undefined} />
      </div>
      {answer.standalone_question && (
        <p class="understood">
          <span>{texts.answer.standalone}</span> {answer.standalone_question}
        </p>
      )}
      {answer.explanation && (
        <p class="understood">
          {exchange.sql === undefined ? (
            <span>{texts.answer.understood}</span>
          ) : (
            <span class="origin">{texts.answer.ownSql}</span>
          )}{" "}
          {answer.explanation}
        </p>
      )}
      {answer.clarification && (
        <div class="clarification">
          <span>{texts.answer.clarify}</span>
          <Analysis text={answer.clarification} />
        </div>
      )}
      <Headline answer={answer} origin={origin} />
      {seen && <SharedCard exchange={exchange} linkId={linkId} />}
      <Reading answer={answer} origin={origin} />
      <Findings answer={answer} origin={origin} />
      {answer.phase === "cancelled" && <p class="quiet">{linkTexts.cancelled}</p>}
      {answer.problems.map((each, index) => (
        <ProblemBox key={index} problem={{ ...each, title: linkTexts.unanswered }} tone="notice" />
      ))}
    </article>
  );
}

/** Chart, rows and SQL. The reader may draw the chart otherwise, for themselves only. */
function SharedCard({ exchange, linkId }: Shown) {
  const { answer, question } = exchange;
  const [chosen, choose] = useState<Tab | null>(null);
  const [choice, setChoice] = useState<unknown>(answer.chart_choice);
  const chart = useMemo(() => readChart(answer.chart), [answer.chart]);
  const rows = useMemo(
    () => (answer.head && answer.messageId ? new SharedRows(linkId, answer.messageId, answer.head) : null),
    [answer.head],
  );
  const tabs = tabsOf(answer, chart !== null);
  const [first] = tabs;
  if (first === undefined) return null;
  const shown = chosen !== null && tabs.includes(chosen) ? chosen : first;
  return (
    <section class="answer-card">
      <Tabs label={texts.answer.tabs} tabs={tabs.map(named)} shown={shown} show={choose}>
        {shown === "figure" && rows && <FigurePanel rows={rows} />}
        {shown === "chart" && (
          <div style={{ minHeight: `${panelHeight(chart)}px` }}>
            <ChartPanel
              chart={chart}
              rows={rows}
              title={question}
              choice={choice}
              choose={setChoice}
              computed={answer.computed_chart}
              compute={null}
            />
            {rows?.cutBy && rows.cutBy !== "values" && <CutNotice by={rows.cutBy} />}
          </div>
        )}
        {shown === "table" && rows && <RowsPanel rows={rows} title={question} />}
        {shown === "sql" && <SqlText sql={shownSql(answer)} />}
      </Tabs>
    </section>
  );
}
