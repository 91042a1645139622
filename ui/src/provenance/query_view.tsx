import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Provenance, QueryDescription, StepCounts } from "../api/types";
import { count } from "../shared/time";
import { groupsOf, joinOf, nullOf, orderOf, sourceOf, titleOf } from "./words";
import { provenanceTexts } from "./texts";

interface Shown {
  query: QueryDescription;
  made: Provenance;
  /** The column of the result that the reader came from. */
  column: string | null;
  /** The rows after its steps, once they were counted. */
  counts: StepCounts["items"];
}

/** What one query reads, keeps, groups and computes. */
export function QueryView({ query, made, column, counts }: Shown) {
  const t = provenanceTexts;
  const names = new Map(made.queries.map((each) => [each.id, titleOf(each, made.queries)]));
  const several = made.queries.length > 1;
  const order = orderOf(query);
  const after = (step: StepCounts["items"][number]["step"], at = 0) => (
    <Rows found={counts.find((each) => each.step === step && each.at === at)} />
  );
  return (
    <li>
      <h3>
        {several ? names.get(query.id) : t.reads}
        {query.is_recursive && <small>{t.recursive}</small>}
        {query.is_correlated && <small>{t.correlated}</small>}
      </h3>
      <dl class="made-query">
        {query.operation && (
          <Part name={t.combines}>
            {query.operation}: {query.branches.map((each) => names.get(each) ?? each).join(", ")}
          </Part>
        )}
        {query.sources.length > 0 && (
          <Part name={several ? t.reads : t.from}>
            <ul>
              {query.sources.map((each, index) => (
                <li key={each.alias}>
                  {sourceOf(each, names)} {after("source", index)}
                </li>
              ))}
            </ul>
          </Part>
        )}
        {query.joins.length > 0 && (
          <Part name={t.joins}>
            <ul>
              {query.joins.map((each, index) => (
                <li key={index}>
                  {joinOf(each)} {each.condition && <code>{each.condition}</code>}
                  {each.using.length > 0 && <code>{each.using.join(", ")}</code>} {after("join", index)}
                </li>
              ))}
            </ul>
          </Part>
        )}
        {query.filters.length > 0 && (
          <Part name={t.keeps}>
            <ul>
              {query.filters.map((each, index) => (
                <li key={index}>
                  {each.clause !== "where" && <span>{t.clauses[each.clause]} </span>}
                  <code>{each.sql}</code>
                </li>
              ))}
            </ul>
            {after("where")}
          </Part>
        )}
        {(query.groupings.length > 0 || query.is_aggregated) && (
          <Part name={t.per}>
            {query.groupings.length === 0 ? t.allRows : null}
            <ul>
              {query.groupings.map((each, index) => (
                <li key={index}>
                  <code>{groupsOf(each)}</code>
                </li>
              ))}
            </ul>
            {after("groups")}
          </Part>
        )}
        <Columns query={query} column={query.id === "result" ? column : null} made={made} />
        {query.windows.length > 0 && (
          <Part name={t.windows}>
            <ul>
              {query.windows.map((each, index) => (
                <li key={index}>
                  <code>{each.function}</code> {t.window(each.partition_by, each.order_by, each.frame)}
                </li>
              ))}
            </ul>
          </Part>
        )}
        {query.nulls.length > 0 && (
          <Part name={t.nulls}>
            <ul>
              {query.nulls.map((each, index) => (
                <li key={index}>{nullOf(each)}</li>
              ))}
            </ul>
          </Part>
        )}
        {(query.is_distinct || query.distinct_on.length > 0) && (
          <Part name={t.distinct}>
            {query.is_distinct ? t.onceEach : t.onceEachOf(query.distinct_on.join(", "))}
          </Part>
        )}
        {order && <Part name={t.order}>{order}</Part>}
        {query.others.length > 0 && (
          <Part name={t.others}>
            <ul>
              {query.others.map((each) => (
                <li key={each}>
                  <code>{each}</code>
                </li>
              ))}
            </ul>
          </Part>
        )}
      </dl>
    </li>
  );
}

/** Rows after a step; why there is no number, if it could not be counted. */
function Rows({ found }: { found: StepCounts["items"][number] | undefined }) {
  if (!found) return null;
  if (found.row_count === null) return <span class="made-count">{found.reason}</span>;
  const { rows } = provenanceTexts;
  return <span class="made-count">{rows(found.row_count, count(found.row_count))}</span>;
}

function Part({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Columns({
  query,
  column,
  made,
}: {
  query: QueryDescription;
  column: string | null;
  made: Provenance;
}) {
  const t = provenanceTexts;
  const sought = useRef<HTMLLIElement>(null);
  const at = column === null ? -1 : columnIndex(query, column, made);
  useEffect(() => sought.current?.scrollIntoView({ block: "center" }), [column]);
  if (query.columns.length === 0) return null;
  return (
    <Part name={t.computes}>
      <ul class="made-columns">
        {query.columns.map((each, index) => (
          <li key={index} ref={index === at ? sought : undefined} class={index === at ? "sought-column" : ""}>
            <strong>{each.name}</strong>
            {each.sql !== each.name && <code>{each.sql}</code>}
            {each.sources.length > 0 && (
              <span class="quiet">
                {t.fromColumns(each.sources.map((one) => `${one.table}.${one.column}`))}
              </span>
            )}
            {each.kind === "unknown" && <span class="quiet">{t.unknownColumns}</span>}
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** The place of a column of the rows in its query: the same, unless a star could not be expanded. */
function columnIndex(query: QueryDescription, column: string, made: Provenance): number {
  const place = made.columns.findIndex((each) => each.name === column);
  if (query.has_all_columns && query.columns.length === made.columns.length) return place;
  return query.columns.findIndex((each) => each.name === column);
}
