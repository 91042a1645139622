import { ChevronRight } from "lucide";
import { useMemo, useRef, useState } from "preact/hooks";
import { Comments } from "../comments/lazy_comments";
import { Analysis } from "../conversation/analysis/analysis";
import { Headline, Reading } from "../conversation/analysis/answer_text";
import { panelHeight } from "../conversation/chart/height";
import { readSpec } from "../conversation/chart/spec";
import { Findings, originIn } from "../conversation/investigation/findings";
import { type Exchange, shownSql } from "../conversation/model";
import { CutNotice } from "../conversation/rows/cut_notice";
import { RowsPanel } from "../conversation/rows/lazy_rows";
import { Steps } from "../conversation/steps/timeline";
import { named, type Tab, tabsOf } from "../conversation/tabs_of";
import { Icon } from "../shared/icon";
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
const ChartTools = lazy(() => import("../conversation/chart/chart_tools"));
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
      <h2 class={answer.headline ? "question" : "question large"}>{question}</h2>
      <Headline answer={answer} origin={origin} />
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
      {seen && <SharedCard exchange={exchange} linkId={linkId} />}
      <Reading answer={answer} origin={origin} />
      <Findings answer={answer} origin={origin} />
      <div class="folds">
        {answer.sql && (
          <details class="fold fold-sql">
            <summary>
              <Icon of={ChevronRight} />
              <b>{texts.answer.sql}</b>
            </summary>
            <SqlText sql={shownSql(answer)} />
          </details>
        )}
        <Steps answer={answer} sessionId={null} given={exchange.sql !== undefined} />
      </div>
      {answer.messageId && <Comments thing={{ kind: "answer", thingId: answer.messageId, linkId }} />}
      {answer.phase === "cancelled" && <p class="quiet">{linkTexts.cancelled}</p>}
      {answer.problems.map((each, index) => (
        <ProblemBox key={index} problem={{ ...each, title: linkTexts.unanswered }} tone="notice" />
      ))}
    </article>
  );
}

/** Chart and rows. */
function SharedCard({ exchange, linkId }: Shown) {
  const { answer, question } = exchange;
  const [chosen, choose] = useState<Tab | null>(null);
  const spec = useMemo(
    () => readSpec(answer.chosen_chart ?? answer.chart),
    [answer.chosen_chart, answer.chart],
  );
  const rows = useMemo(
    () => (answer.head && answer.messageId ? new SharedRows(linkId, answer.messageId, answer.head) : null),
    [answer.head],
  );
  const tabs = tabsOf(answer.head, { charted: spec !== null, canChart: false });
  const [first] = tabs;
  if (first === undefined) return null;
  const shown = chosen !== null && tabs.includes(chosen) ? chosen : first;
  const tools = shown === "chart" && (
    <ChartTools
      spec={spec}
      head={answer.head}
      title={question}
      choice={answer.chart_choice}
      changes={null}
      ready={false}
    />
  );
  return (
    <section class="answer-card">
      <Tabs label={texts.answer.tabs} tabs={tabs.map(named)} shown={shown} show={choose} beside={tools}>
        {shown === "figure" && rows && <FigurePanel rows={rows} />}
        {shown === "chart" && (
          <div style={{ minHeight: `${panelHeight(spec)}px` }}>
            <ChartPanel
              spec={spec}
              head={answer.head}
              choice={answer.chart_choice}
              refusal={answer.chart_refusal}
            />
            {rows?.cutBy && rows.cutBy !== "values" && <CutNotice by={rows.cutBy} />}
          </div>
        )}
        {shown === "table" && rows && <RowsPanel rows={rows} title={question} />}
      </Tabs>
    </section>
  );
}
