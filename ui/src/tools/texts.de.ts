import type { Translated } from "../shared/translated";
import type { offTexts as englishOff, toolTexts as english } from "./texts";

export const offTexts: Translated<typeof englishOff> = {
  needModel: {
    investigations: "Werkzeuge brauchen ein Sprachmodell",
    rules: "Regeln brauchen ein Sprachmodell",
  },
  why: {
    investigations:
      "Es ist keines verbunden. KAI beantwortet einfache Fragen auf Englisch und ruft dafür keine Werkzeuge auf.",
    rules: "Es ist keines verbunden. KAI beantwortet einfache Fragen auf Englisch und folgt keinen Regeln.",
  },
  connect:
    "Um ein Modell zu verbinden, setzen Sie KAI_LLM__BASE_URL und KAI_LLM__MODEL, wo KAI läuft, und starten Sie es neu.",
  isOff: { investigations: "Werkzeuge sind ausgeschaltet", rules: "Regeln sind ausgeschaltet" },
  settings: "Sprachmodell in den Einstellungen",
};

export const toolTexts: Translated<typeof english> = {
  lead: "Was Untersuchungen aufrufen dürfen. Aufrufe, die fragen, laufen erst nach Ihrer Freigabe.",
  gates: { free: "läuft", asks: "fragt zuerst", never: "wird nie aufgerufen" },
  categories: {
    read: "liest",
    write: "schreibt",
    delete: "löscht",
    external: "verlässt KAI",
    extension: "Erweiterung",
  },
  agentOnly: "nur im Agentenmodus",
  nowhere: "nicht angeboten",
  schema: "Argumente",
  extensions: "Erweiterungen",
  failed: "Nicht geladen:",
  servers: "MCP-Server",
  statuses: {
    NotConnected: "nicht verbunden",
    Connecting: "wird verbunden",
    Connected: "verbunden",
    FailedToConnect: "Verbindung fehlgeschlagen",
  },
  states: {
    approved: "freigegeben, fragt zuerst",
    new: "wartet auf einen Administrator",
    changed: "seit der Freigabe geändert, nicht angeboten",
    unusable: "nicht verwendbar",
  },
  was: "Wie freigegeben",
  now: "Wie es jetzt ist",
  approve: (tool) => `${tool} freigeben, wie es jetzt ist`,
  leftOut: (count) => (count === 1 ? "1 weiteres fehlt." : `${count} weitere fehlen.`),
};
