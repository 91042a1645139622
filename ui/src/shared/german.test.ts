import { expect, test } from "vitest";

type Module = Record<string, unknown>;
const ENGLISH = import.meta.glob<Module>(["../**/texts.ts", "../**/*_texts.ts"], { eager: true });
const GERMAN = import.meta.glob<Module>(["../**/texts.de.ts", "../**/*_texts.de.ts"], { eager: true });

/** The same in both languages: names, and words that German has from English or English from German. */
const SAME = new Set([
  ...["KAI", "null", "CSV", "JSON", "PNG", "SVG", "SQL", "EUR", "Markdown", "Parquet", "Excel", "auto"],
  ...[
    "PostgreSQL",
    "MySQL",
    "SQLite",
    "DuckDB",
    "ClickHouse",
    "Snowflake",
    "Port",
    "Name",
    "Test",
    "Text",
    "Links",
    "Format",
  ],
  ...["English", "Deutsch", "Administrator", "Tokens", "Version @", "@ Tokens", "@.@", "→ @", "@ (@)"],
  ...["Enter", "Esc", "↑", "← →", "j · k", ""],
]);

/** The texts of a module by their paths; of a function what it says of placeholders, and how many it takes. */
function* textsOf(value: unknown, path: string): Generator<[path: string, text: string]> {
  if (typeof value === "string") yield [path, value];
  else if (typeof value === "function") yield [`${path}(${value.length})`, saidBy(value)];
  else if (typeof value === "object" && value !== null) {
    for (const [key, each] of Object.entries(value)) yield* textsOf(each, `${path}.${key}`);
  }
}

/** What a function says, or nothing where its parameters are no texts. */
function saidBy(text: unknown): string {
  try {
    const said: unknown = (text as (...given: string[]) => unknown)("@", "@", "@");
    return typeof said === "string" ? said : "";
  } catch {
    return "";
  }
}

test.each(Object.keys(ENGLISH))("%s is in German, too", (name) => {
  const german = new Map(textsOf(GERMAN[name.replace(/ts$/, "de.ts")], ""));
  const english = new Map(textsOf(ENGLISH[name], ""));
  expect([...german.keys()].sort()).toEqual([...english.keys()].sort());
  const left = [...english].filter(([path, text]) => german.get(path) === text && !SAME.has(text));
  expect(left).toEqual([]);
});

test("no German module stands alone", () => {
  expect(Object.keys(GERMAN).sort()).toEqual(
    Object.keys(ENGLISH)
      .map((name) => name.replace(/ts$/, "de.ts"))
      .sort(),
  );
});
