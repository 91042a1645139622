import type { Translated } from "../shared/translated";
import type { commentTexts as english } from "./texts";

export const commentTexts: Translated<typeof english> = {
  none: "Noch keine Kommentare. Wer dies sehen darf, kann sie lesen.",
  label: "Ihr Kommentar",
  text: "Kommentar",
  hint: "@Name benachrichtigt eine Person, die dies sehen darf.",
  add: "Senden",
  save: "Speichern",
  cancel: "Abbrechen",
  mention: (name) => `${name} erwähnen`,
  you: "Sie",
  edited: "bearbeitet",
  edit: "Ihren Kommentar bearbeiten",
  remove: (author) => `Kommentar von ${author} löschen`,
  removeOwn: "Ihren Kommentar löschen",
  sure: "Diesen Kommentar löschen?",
  removed: "Der Kommentar ist gelöscht.",
  added: "Der Kommentar ist gesendet.",
  resolve: (author) => `Kommentar von ${author} als erledigt markieren`,
  reopen: (author) => `Kommentar von ${author} wieder öffnen`,
  resolved: (by) => `erledigt von ${by}`,
  mentioned: (author) => `${author} hat Sie in einem Kommentar erwähnt.`,
};
