import type { Starters } from "./starter_words";

export const starterTexts: Starters = {
  perGroup: (table, group) => `Anzahl der Zeilen von „${table}“ je „${group}“`,
  total: (measure, table) =>
    `Wie hoch ist ${measure.startsWith("total") ? "der Durchschnitt" : "die Summe"} von „${measure}“ in „${table}“?`,
  perMonth: (table) => `Anzahl der Zeilen von „${table}“ pro Monat`,
  howMany: (table) => `Wie viele Zeilen hat „${table}“?`,
};
