import { count } from "../../shared/time";
import type { Translated } from "../../shared/translated";
import type { stepTexts as english } from "./texts";

const counted = (number: number, one: string, more: string) =>
  number === 1 ? `1 ${one}` : `${count(number)} ${more}`;

export const stepTexts: Translated<typeof english> = {
  names: {
    waiting: "Auf den Beginn warten",
    loading_context: "Kontext lesen",
    generating_sql: "SQL schreiben",
    repairing_sql: "SQL korrigieren",
    executing_sql: "Abfrage ausführen",
    analyzing: "Zeilen auswerten",
    summarizing: "Gespräch merken",
    investigating: "Untersuchen",
    using_tool: "Werkzeug benutzen",
    waiting_for_approval: "Auf Ihre Freigabe warten",
    saving: "Speichern",
  },
  failedStatement: "Diese Abfrage musste korrigiert werden",
  failedStep: "Was schiefgegangen ist",
  tables: (number) => counted(number, "Tabelle", "Tabellen"),
  terms: (number) => counted(number, "Begriff des Glossars", "Begriffe des Glossars"),
  instructions: (number) => counted(number, "Anweisung", "Anweisungen"),
  examples: (number) => counted(number, "bestätigtes Beispiel", "bestätigte Beispiele"),
  facts: (number) => counted(number, "gemerkter Fakt", "gemerkte Fakten"),
  columns: (number) => counted(number, "Spalte", "Spalten"),
};
