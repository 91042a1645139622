import { count } from "../shared/time";
import type { Translated } from "../shared/translated";
import type * as english from "./texts";

export const reviewTexts: Translated<typeof english.reviewTexts> = {
  title: (count) => `Warten auf Ihre Prüfung (${count})`,
  lead: "Gelobte und korrigierte Antworten. Eine bestätigte beantwortet ihre Frage von da an.",
  answer: "Antwort",
  noAnswer: "Die Antwort wurde korrigiert, oder ihr Text ist nicht aufbewahrt.",
  askedBy: (owner, when) => `Gefragt von ${owner} · ${when}`,
  run: "Ausführen",
  rows: "Zeilen der Abfrage",
  ran: (rows, time, first) =>
    `${rows === 1 ? "1 Zeile" : `${count(rows)} Zeilen`} in ${time}${first < rows ? `; die ersten ${first}:` : ":"}`,
  verify: "Bestätigen",
  reject: "Ablehnen",
  verified: "Bestätigt. Damit wird die Frage von jetzt an beantwortet.",
  rejected: "Abgelehnt.",
};

export const transferTexts: Translated<typeof english.transferTexts> = {
  formats: { csv: "CSV", markdown: "Markdown" },
  exportLead: "Beispiele, Glossar, Anweisungen und Beschreibungen von Tabellen und Spalten exportieren",
  fileTitle: "wissen",
  import: "Importieren",
  title: "Wissen importieren",
  lead: "Eine CSV- oder Markdown-Datei, wie ein Export sie schreibt. Nichts wird gelöscht, und eine leere Zelle ändert nichts.",
  file: "Datei",
  entries: "Was aus jedem Eintrag wird",
  columns: ["Zeile", "Ergebnis", "Eintrag"],
  outcomes: { new: "neu", changed: "geändert", same: "gleich", refused: "abgewiesen" },
  counts: (of) => `${of.new} neu, ${of.changed} geändert, ${of.same} gleich, ${of.refused} abgewiesen.`,
  nothingStored:
    "Solange eine Zeile abgewiesen wird, wird nichts gespeichert: Korrigieren Sie die Datei, und wählen Sie sie noch einmal.",
  store: (changes) => (changes === 1 ? "1 Eintrag importieren" : `${changes} Einträge importieren`),
  imported: (changes) => (changes === 1 ? "1 Eintrag importiert." : `${changes} Einträge importiert.`),
};

export const starterTexts: Translated<typeof english.starterTexts> = {
  title: "Startfragen",
  questions: "Fragen für den Anfang, eine je Zeile",
  hint: (count, most) =>
    `${count} von ${most}. Die Startseite zeigt sie vor denen, die KAI aus dem Schema bildet.`,
  saved: "Gespeichert. Die Startseite zeigt diese Fragen zuerst.",
};

export const termTexts: Translated<typeof english.termTexts> = {
  title: "Glossar:",
  origin: (owner, when) => `Glossar von ${owner} · seit ${when}`,
  changed: (when) => `Geändert ${when}`,
};

export const knowledgeTexts: Translated<typeof english.knowledgeTexts> = {
  examples: "Beispiele",
  glossary: "Glossar",
  instructions: "Anweisungen",
  leads: {
    examples: "Fragen mit dem SQL, das sie beantwortet. Bestätigte leiten das Modell.",
    glossary: "Wörter Ihres Geschäfts und was sie in den Daten bedeuten.",
    instructions: "Regeln, nach denen die Daten zu lesen sind. Das Modell liest sie mit jeder Frage.",
  },
  fields: {
    question: "Frage",
    sql: "SQL",
    term: "Begriff",
    meaning: "Bedeutung",
    text: "Anweisung",
    scope: "Nur für die Tabelle",
  },
  optional: "freiwillig",
  addOf: {
    examples: "Beispiel hinzufügen",
    glossary: "Begriff hinzufügen",
    instructions: "Anweisung hinzufügen",
  },
  editOf: {
    examples: "Beispiel bearbeiten",
    glossary: "Begriff bearbeiten",
    instructions: "Anweisung bearbeiten",
  },
  add: "Hinzufügen",
  edit: "Bearbeiten",
  added: "Gespeichert",
  none: {
    examples:
      "Hier ist noch nichts. Fügen Sie eine Frage mit ihrem SQL hinzu, oder bewerten Sie eine Antwort als gut.",
    glossary:
      "Hier ist noch nichts. Fügen Sie ein Wort hinzu, das hier eine eigene Bedeutung hat, etwa „aktiver Kunde“.",
    instructions:
      "Hier ist noch nichts. Fügen Sie hinzu, was für jede Frage gilt, etwa „Testbestellungen weglassen“.",
  },
  helped: (uses) => (uses === 1 ? "half bei 1 Antwort" : `half bei ${uses} Antworten`),
  broken: "defekt",
  notUsed: "Keine Antwort verwendet es.",
  repair: "Reparieren",
  status: { proposed: "wartet auf Prüfung", verified: "bestätigt", rejected: "abgelehnt" },
};
