import type { Translated } from "../../shared/translated";
import type { tableTexts as english } from "./table_texts";

export const tableTexts: Translated<typeof english> = {
  tools: "Werkzeuge der Tabelle",
  find: "In den Zeilen suchen",
  findHint: "Suchen",
  found: (at, all) => `${at} von ${all}`,
  foundNone: "Nicht gefunden",
  next: "Nächster Treffer",
  previous: "Voriger Treffer",
  totals: "Summen",
  total: "Summe",
  copy: "Kopieren",
  copyLabel: "Mit Kopfzeile kopieren: die gewählten Zellen oder alle",
  hidden: (count) =>
    count === 1 ? "1 ausgeblendete Spalte zeigen" : `${count} ausgeblendete Spalten zeigen`,
  column: (name) => `Spalte ${name}`,
  ascending: "Aufsteigend sortieren",
  descending: "Absteigend sortieren",
  unsorted: "Reihenfolge der Antwort",
  hide: "Ausblenden",
  freeze: "Fixieren",
  unfreeze: "Lösen",
  statistics: "Über alle Zeilen",
  min: "Kleinster Wert",
  max: "Größter Wert",
  mean: "Mittelwert",
  nulls: "Nullwerte",
  distinct: "Verschiedene Werte",
  top: "Am häufigsten",
  row: (number) => `Zeile ${number}`,
  hint: "Pfeiltasten bewegen, Umschalt erweitert, Strg-C kopiert, Strg-F sucht, Enter zeigt die Zeile",
};
