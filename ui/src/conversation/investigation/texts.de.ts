import type { Translated } from "../../shared/translated";
import type { confirmationTexts as englishConfirmations, pointerTexts as englishPointers } from "./texts";

export const pointerTexts: Translated<typeof englishPointers> = {
  label: "Code, Links und nächste Schritte",
  checked: "Geprüft: liest nur, und seine Namen gibt es. Nicht ausgeführt.",
  unchecked: "Nicht geprüft und von KAI nicht ausgeführt",
};

export const confirmationTexts: Translated<typeof englishConfirmations> = {
  label: (tool) => `Freigabe des Aufrufs: ${tool}`,
  waits: "Dieser Aufruf wartet auf Ihre Freigabe",
  left: (time) => `noch ${time}`,
  over: "Die Zeit ist abgelaufen",
  destination: "Geht an",
  approve: "Freigeben",
  edit: "Bearbeiten",
  editing: (tool) => `Argumente des Aufrufs: ${tool}`,
  proposed: "Bisher vorgeschlagen:",
  approveEdited: "Mit diesen Argumenten freigeben",
  optional: "freiwillig",
  refused: "Mit diesen Argumenten kann der Aufruf nicht laufen",
  notJson: (name) => `Der Wert von ${name} ist kein gültiges JSON. Der Aufruf wartet noch.`,
  edited: "Die Argumente wurden vor der Freigabe geändert.",
  deny: "Ablehnen",
  reason: "Begründung für das Modell (freiwillig)",
  withdraw: "Zurückziehen und diese Antwort beenden",
};
