import type { Translated } from "../shared/translated";
import type { linkTexts as english } from "./texts";

export const linkTexts: Translated<typeof english> = {
  titles: { answer: "Diese Antwort teilen", session: "Diese Sitzung teilen", board: "Diese Pinnwand teilen" },
  kinds: { answer: "Antwort", session: "Sitzung", board: "Pinnwand" },
  lead: "Ihre Links zum Lesen. Nur angemeldete Benutzer, die die Datenbank benutzen dürfen, können sie öffnen.",
  none: "Sie haben noch keine Links erstellt. Teilen Sie eine Sitzung, eine Antwort oder eine Pinnwand.",
  shows: "Der Link zeigt",
  showsOf: {
    answer: "die Antwort auf diese Frage: Text, Diagramm, SQL und Zeilen",
    session: "die Fragen und Antworten dieser Sitzung bis jetzt, mit Diagrammen, SQL und Zeilen",
    board: "die Pinnwand, wie sie beim Öffnen ist, mit den letzten Zeilen jeder Kachel",
  },
  keeps: "Für Sie allein bleiben",
  keepsOf: {
    answer: "der Rest der Sitzung, Ihre Bewertungen und späteren Abfragen und was KAI sich von Ihnen merkt",
    session:
      "was Sie von jetzt an fragen, Ihre Bewertungen und späteren Abfragen und was KAI sich von Ihnen merkt",
    board: "die Sitzungen, aus denen die Kacheln stammen",
  },
  readers: "Lesen können ihn",
  readersOf: (database) =>
    database
      ? `angemeldete Benutzer dieses KAI, die ${database} benutzen dürfen, und sonst niemand`
      : "angemeldete Benutzer dieses KAI, die seine Datenbanken benutzen dürfen, und sonst niemand",
  lifetime: "Er endet",
  lifetimes: [
    { days: 1, label: "in einem Tag" },
    { days: 7, label: "in einer Woche" },
    { days: 30, label: "in 30 Tagen" },
    { days: 90, label: "in 90 Tagen" },
    { days: 366, label: "in einem Jahr" },
  ],
  preview: "Vorschau zeigen, wo der Link steht",
  previewHint: "Titel, Überschrift und Bild; auch für nicht angemeldete Personen.",
  make: "Link erstellen",
  made: (time) => `Der Link ist fertig und endet ${time}. Senden Sie ihn an seine Leser.`,
  address: "Adresse des Links",
  copy: "Link kopieren",
  copied: "Link kopiert",
  open: "Öffnen",
  ends: (time) => `endet ${time}`,
  ended: (time) => `beendet ${time}`,
  madeOn: (time) => `erstellt ${time}`,
  revoke: "Widerrufen",
  revokeOf: (title) => `Link zu „${title}“ widerrufen`,
  copyOf: (title) => `Link zu „${title}“ kopieren`,
  sure: "Diesen Link widerrufen? Seine Leser sehen von da an nichts mehr.",
  revoked: "Der Link ist widerrufen.",
  older: "Ältere Links zeigen",
  all: "Alle meine Links",
  untitled: "Ohne Titel",
  readOnly: "nur lesen",
  by: (owner) => `geteilt von ${owner}`,
  yours: "von Ihnen geteilt",
  goOn: "Als eigene Sitzung fortsetzen",
  goOnLead: "Die Fragen und Antworten werden kopiert. Was Sie dann fragen, läuft mit Ihren Rechten.",
  mayNotAsk: "Ihre Anmeldung darf nur lesen. Zum Fortsetzen melden Sie sich mit einer an, die fragen darf.",
  boardLead:
    "Eine Pinnwand hat kein Gespräch. Um nach ihren Zahlen zu fragen, beginnen Sie eine eigene Sitzung.",
  begin: "Neue Sitzung",
  earlier: "Frühere Fragen zeigen",
  empty: "Hier ist noch nichts.",
  noPins: "Keine der Kacheln gehört zu einer Datenbank, die Sie benutzen dürfen, oder es gibt keine.",
  unanswered: "Diese Frage wurde nicht beantwortet",
  cancelled: "Diese Antwort wurde angehalten.",
  list: "Links",
};
