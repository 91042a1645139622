/** The parts of a described statement in words. Names and conditions stay as the statement has them. */
import type { QueryDescription } from "../api/types";
import { provenanceTexts } from "./texts";

type Source = QueryDescription["sources"][number];
type Join = QueryDescription["joins"][number];
type Grouping = QueryDescription["groupings"][number];
type NullRule = QueryDescription["nulls"][number];

/** The heading of one of several queries: its name, or its part in the statement with a number. */
export function titleOf(query: QueryDescription, queries: readonly QueryDescription[]): string {
  const { roles } = provenanceTexts;
  if (query.role === "result") return roles.result;
  if (query.name) return query.role === "cte" ? query.name : `${roles[query.role]} ${query.name}`;
  const alike = queries.filter((each) => each.role === query.role && !each.name);
  return alike.length > 1 ? `${roles[query.role]} ${alike.indexOf(query) + 1}` : roles[query.role];
}

export function sourceOf(source: Source, titles: ReadonlyMap<string, string>): string {
  const t = provenanceTexts;
  const named = source.kind === "subquery" ? (titles.get(source.query ?? "") ?? source.alias) : source.name;
  const alias = source.alias !== source.name && source.kind !== "subquery" ? t.alias(source.alias) : "";
  const kind = source.kind === "table" || source.kind === "subquery" ? "" : ` (${t.sources[source.kind]})`;
  return `${named}${alias}${kind}${source.is_lateral ? t.lateral : ""}`;
}

export function joinOf(join: Join): string {
  const t = provenanceTexts;
  return `${t.joinKinds[join.kind]} ${join.alias}${t.places[join.place]}`;
}

export function groupsOf(grouping: Grouping): string {
  const named = grouping.output !== null && grouping.output !== grouping.sql;
  return named ? `${grouping.output} = ${grouping.sql}` : grouping.sql;
}

export function nullOf(rule: NullRule): string {
  return provenanceTexts.nullKinds[rule.kind](rule.sql);
}

/** The order and the limit in one phrase; empty if there is neither. */
export function orderOf(query: QueryDescription): string {
  const t = provenanceTexts;
  const keys = query.order.map(
    (key) => `${key.output ?? key.sql} ${key.is_descending ? t.falling : t.rising}`,
  );
  const limit = query.limit === null ? [] : [t.limit(query.limit)];
  const offset = query.offset === null ? [] : [t.offset(query.offset)];
  return [...(keys.length ? [keys.join(", ")] : []), ...limit, ...offset].join("; ");
}
