import type { Translated } from "../shared/translated";
import type { ruleTexts as english } from "./texts";

export const ruleTexts: Translated<typeof english> = {
  lead: "Modelle folgen diesen Regeln. Wo sich zwei widersprechen, gilt die frühere.",
  add: "Regel hinzufügen",
  edit: "Bearbeiten",
  none: "Eine Regel sagt, wie Antworten hier entstehen",
  noneLead: "Wie Zahlen angegeben werden, was weggelassen wird, wie Antworten formuliert sind.",
  noneSteps: [
    "Schreiben Sie die Regel in einfachen Worten, unter einem Namen.",
    "Sagen Sie, für welche Datenbanken oder Tabellen sie gilt, oder für alle.",
    "Modelle folgen ihr in jeder Antwort, für die sie gilt.",
  ],
  on: "an",
  off: "aus",
  switchOn: "Einschalten",
  switchOff: "Ausschalten",
  applies: {
    always: "immer",
    auto: "wenn es um ihre Tabellen geht",
    manual: "wenn eine Frage sie nennt",
  },
  writtenBy: (owner) => `von ${owner}`,
  fromFile: (path) => `Datei ${path}`,
  priority: (priority) => `Rang ${priority}`,
  everywhere: "überall",
  everyDatabase: "Alle Datenbanken",
  fields: {
    name: "Name",
    text: "Regel",
    connection: "Datenbank",
    apply: "Gilt",
    patterns: "Tabellen (Muster, etwa payroll_*)",
    priority: "Rang (kleinere Zahlen zuerst)",
  },
};
