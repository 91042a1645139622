import type { Translated } from "../shared/translated";
import type { identity as english } from "./texts";

export const identity: Translated<typeof english> = {
  title: "Anmelden",
  lead: "KAI möchte wissen, wer fragt, bevor es antwortet.",
  provider: (name) => `Mit ${name} anmelden`,
  or: "oder",
  credential: "API-Schlüssel oder Token",
  hint: "Er beginnt mit kai_ oder kommt von Ihrem Identitätsanbieter.",
  stays: "Auf diesem Gerät angemeldet bleiben",
  staysHint: "Alle Tabs dieses Browsers sind angemeldet, höchstens 30 Tage. Nur mit einem API-Schlüssel.",
  tabHint: "Er wird vergessen, wenn dieser Tab geschlossen wird.",
  signIn: "Anmelden",
  wrong: "Das hat nicht geklappt",
  wrongLead:
    "Der Schlüssel ist unbekannt oder nicht mehr gültig. Ein Administrator kann Ihnen einen neuen geben.",
  failed: "Sie sind nicht angemeldet",
  failures: {
    denied:
      "Der Identitätsanbieter hat Sie nicht zugelassen, oder Sie haben abgelehnt. Sie können es noch einmal versuchen.",
    expired:
      "Die Anmeldung hat zu lange gedauert, wurde schon benutzt oder in einem anderen Fenster begonnen. Bitte versuchen Sie es noch einmal.",
    refused:
      "Die Antwort des Identitätsanbieters konnte nicht angenommen werden. Bitte versuchen Sie es noch einmal; hilft das nicht, findet ein Administrator den Grund im Protokoll von KAI.",
    busy: "Zu viele Anmeldungen aus Ihrem Netz sind fehlgeschlagen. Bitte versuchen Sie es in einer Minute noch einmal.",
    unavailable: "Der Identitätsanbieter ist nicht erreichbar. Bitte versuchen Sie es gleich noch einmal.",
  },
};
