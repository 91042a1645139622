import { addRule, changeRule, listRules } from "../../api/client";
import type { Column } from "../../api/types";
import { chartFormTexts } from "./chart_form_texts";

const MOST_CHARACTERS = 60;

/** Makes the rule that charts of a database's results with these columns are drawn as the words say, or changes
 * the one that there is. Raises what the API calls raise. */
export async function keepRule(
  connectionId: string,
  words: string,
  columns: readonly Column[],
): Promise<void> {
  const names = columns.map((each) => each.name);
  const fields = { text: chartFormTexts.rule(names.join(", "), words), chart: words, chart_of: names };
  const rules = await listRules();
  const same = rules.find(
    ({ scope, chart_of }) => isEqual(scope.connections, [connectionId]) && isEqual(chart_of, names),
  );
  if (same) return changeRule(same.name, fields);
  const taken = new Set(rules.map((each) => each.name));
  const first = `chart-${names.join("-").replace(/[^A-Za-z0-9_-]+/g, "-")}`.slice(0, MOST_CHARACTERS);
  let name = first;
  for (let number = 2; taken.has(name); number++) name = `${first}-${number.toString()}`;
  await addRule({ name, ...fields, scope: { connections: [connectionId] } });
}

function isEqual(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((each, at) => each === others[at]);
}
