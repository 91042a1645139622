import type { Translated } from "../shared/translated";
import type { overviewTexts as english } from "./overview_texts";

export const overviewTexts: Translated<typeof english> = {
  figures: "Was diese Datenbank enthält",
  of: (name, table) => `${name} aus ${table}`,
  up: (percent) => `${percent} mehr`,
  down: (percent) => `${percent} weniger`,
  same: "so viel wie in denselben Monaten des Vorjahres",
  onYearBefore: "als in denselben Monaten des Vorjahres",
  over: (first, last) => `${first} bis ${last}`,
  worthAsking: "Fragen, die sich lohnen",
  sinceYesterday: "Seit gestern",
  latestDay: "Der letzte Tag",
  than: (percent, isMore, weekday) =>
    `, ${percent} ${isMore ? "mehr" : "weniger"} als im Mittel der vier Tage davor (${weekday})`,
  asUsual: (weekday) => `, wie im Mittel der vier Tage davor (${weekday})`,
  tables: "Tabellen nach Gebrauch",
  share: (answers) => `Balken: Anteil Ihrer letzten ${answers} Antworten, die sie lesen`,
  rows: (rows, isOne) => `${rows} ${isOne ? "Zeile" : "Zeilen"}`,
  inAnswers: (answers) => `, ${answers}× genutzt`,
  waiting: "KAI zählt, was diese Datenbank enthält. Ihre Zahlen stehen dann hier.",
  none: "Keine Zahlen über die Zeit: KAI verfolgt Zeilen und Beträge von Tabellen, die ein Datum haben und einige ganze Monate umfassen.",
  leftOut: (tables) => `Zu groß oder zu langsam zum Zählen: ${tables}.`,
  ofRole: "Von den Zeilen, die Sie sehen dürfen.",
  asOf: (time) => `Stand: ${time}.`,
};
