/** What a database holds: three figures, questions worth asking, the latest day, tables by use. */
import { ArrowRight } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call } from "../api/client";
import type { Connection, DatabaseOverview, Overview, OverviewFigure } from "../api/types";
import StarterList from "../conversation/starter_list";
import { starterListTexts } from "../conversation/starter_list_texts";
import { mayChange } from "../identity/me";
import { Icon } from "../shared/icon";
import { onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { count, moment } from "../shared/time";
import { overviewTexts } from "./overview_texts";
import { changeOf, day, lineOf, month, percent, weekday, written } from "./values";
import "./overview.css";

const LOOK_MS = 3_000;
const MOST_LOOKS = 20;
const MOST_QUESTIONS = 4;
const DAY_MS = 86_400_000;

const readOverview = (id: string) =>
  call<DatabaseOverview>(
    "GET",
    `database-connections/${encodeURIComponent(id)}/overview?language=${texts.language}`,
  );

interface Props {
  connection: Connection;
  onAsk: (question: string) => void;
}

/** Fetched after the first paint; it stands below everything else, so that nothing moves when it comes. */
export default function OverviewPart({ connection, onAsk }: Props) {
  const [found, setFound] = useState<DatabaseOverview | null>(null);
  useEffect(() => {
    let timer = 0;
    let looks = 0;
    const look = () =>
      void readOverview(connection.id).then(
        (read) => {
          setFound(read);
          const comes = read.missing === "waiting" || read.missing === "not_scanned";
          if (comes && ++looks < MOST_LOOKS) timer = window.setTimeout(look, LOOK_MS);
        },
        () => setFound({ overview: null, missing: "failed", computed_at: null }),
      );
    look();
    return () => clearTimeout(timer);
  }, [connection.id]);
  if (!found) return <p class="quiet starters-reading">{starterListTexts.reading}</p>;
  const { overview, missing } = found;
  if (overview) return <Known overview={overview} found={found} connection={connection} onAsk={onAsk} />;
  const comes = missing === "waiting" || (missing === "not_scanned" && mayChange(connection));
  return (
    <div class={comes ? "overview" : "overview-none"}>
      {comes && <p class="overview-figures overview-waiting">{overviewTexts.waiting}</p>}
      <StarterList connection={connection} onAsk={onAsk} />
    </div>
  );
}

function Known({
  overview,
  found,
  connection,
  onAsk,
}: Props & { overview: Overview; found: DatabaseOverview }) {
  const { figures, questions, left_out } = overview;
  const notes = [
    overview.is_of_role && overviewTexts.ofRole,
    left_out.length > 0 && overviewTexts.leftOut(left_out.join(", ")),
    found.computed_at && overviewTexts.asOf(moment(found.computed_at)),
  ];
  return (
    <div class="overview">
      {figures.length > 0 ? (
        <section class="overview-figures" aria-label={overviewTexts.figures}>
          {figures.map((each) => (
            <FigureButton key={each.question} figure={each} onAsk={onAsk} />
          ))}
        </section>
      ) : (
        <p class="overview-figures overview-waiting">{overviewTexts.none}</p>
      )}
      <div class="overview-halves">
        {questions.length > 0 ? (
          <section>
            <h2>{overviewTexts.worthAsking}</h2>
            <ul class="overview-questions">
              {connection.starters.map((each) => (
                <Question key={each} question={each} onAsk={onAsk} />
              ))}
              {questions.slice(0, Math.max(0, MOST_QUESTIONS - connection.starters.length)).map((each) => (
                <Question key={each.question} question={each.question} onAsk={onAsk}>
                  <small>{each.finding}</small>
                </Question>
              ))}
            </ul>
          </section>
        ) : (
          <StarterList connection={connection} onAsk={onAsk} />
        )}
        <LatestDay overview={overview} />
      </div>
      <TablesByUse overview={overview} connection={connection} />
      <p class="overview-notes">{notes.filter(Boolean).join(" ")}</p>
    </div>
  );
}

function FigureButton({ figure, onAsk }: { figure: OverviewFigure; onAsk: Props["onAsk"] }) {
  const { line, end } = lineOf(figure.months);
  const change = changeOf(figure);
  const first = figure.months[0]?.month ?? figure.first_month;
  return (
    <button type="button" class="overview-figure" onClick={() => onAsk(figure.question)}>
      <span class="name">{nameOf(figure)}</span>
      <span class="value">{written(figure.value, figure.unit)}</span>
      <span class="change">
        {change === null || change === 0 ? (
          change === 0 && overviewTexts.same
        ) : (
          <>
            <b>{(change > 0 ? overviewTexts.up : overviewTexts.down)(percent(change))}</b>{" "}
            {overviewTexts.onYearBefore}
          </>
        )}
        <span>{overviewTexts.over(month(figure.first_month), month(figure.last_month))}</span>
      </span>
      <span class="trace" aria-hidden="true">
        <svg viewBox="0 0 300 56" preserveAspectRatio="none">
          <path d={line} />
          <path class="end" d={end} />
        </svg>
        <span class="ends">
          <span>{month(first)}</span>
          <span>{month(figure.last_month)}</span>
        </span>
      </span>
    </button>
  );
}

const wordsOf = (table: string) => table.replaceAll("_", " ");

function nameOf({ kind, name, table }: OverviewFigure): string {
  const said = kind === "count" ? name : overviewTexts.of(name, wordsOf(table));
  return said.charAt(0).toUpperCase() + said.slice(1);
}

function Question({
  question,
  onAsk,
  children,
}: {
  question: string;
  onAsk: Props["onAsk"];
  children?: ComponentChildren;
}) {
  return (
    <li>
      <button type="button" onClick={() => onAsk(question)}>
        <span>
          <b>{question}</b>
          {children}
        </span>
        <Icon of={ArrowRight} size={15} />
      </button>
    </li>
  );
}

function LatestDay({ overview: { latest_day, figures } }: { overview: Overview }) {
  const came = figures.filter((each) => each.latest !== null);
  if (latest_day === null || came.length === 0) return null;
  const yesterday = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
  return (
    <section>
      <h2>
        {latest_day >= yesterday ? overviewTexts.sinceYesterday : overviewTexts.latestDay}{" "}
        <small>{day(latest_day)}</small>
      </h2>
      <ul class="overview-latest">
        {came.map((each) => (
          <li key={each.question}>
            <b>{written(each.latest ?? 0, each.unit)}</b>
            <span>
              {each.kind === "count" ? each.name : overviewTexts.of(each.name, wordsOf(each.table))}
              {beside(each, weekday(latest_day))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function beside({ latest, usual }: OverviewFigure, name: string): string {
  if (latest === null || usual === null || usual <= 0) return "";
  const change = (latest - usual) / usual;
  return change === 0 ? overviewTexts.asUsual(name) : overviewTexts.than(percent(change), change > 0, name);
}

function TablesByUse({ overview, connection }: { overview: Overview; connection: Connection }) {
  const { tables, answers } = overview;
  if (tables.length === 0) return null;
  return (
    <section>
      <h2>
        {overviewTexts.tables} {answers > 0 && <small>{overviewTexts.share(count(answers))}</small>}
      </h2>
      <ul class="overview-tables">
        {tables.map((each) => (
          <li key={each.name}>
            <a href={`/connections/${connection.id}#${encodeURIComponent(each.name)}`} onClick={onLinkClick}>
              <i style={{ "--use": answers > 0 ? each.answers / answers : 0 }} />
              <b>{each.name}</b>
              <span>
                {each.row_count !== null && overviewTexts.rows(count(each.row_count), each.row_count === 1)}
                {answers > 0 && overviewTexts.inAnswers(count(each.answers))}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
