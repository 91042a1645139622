import type { Translated } from "../../shared/translated";
import type { sqlTexts as english } from "./texts";

export const sqlTexts: Translated<typeof english> = {
  copy: "SQL kopieren",
  edit: "Bearbeiten",
  format: "Formatieren",
  run: "Ausführen",
  editor: "SQL-Editor",
  corrected: "Korrigiert:",
  versions: "Versionen der Antwort",
  version: (number) => `Version ${number}`,
  ownVersion: "Die eigene Abfrage der Antwort",
  laterVersion: (time) => `Eine Abfrage von Ihnen, ausgeführt ${time}; der Text oben gehört zu Version 1`,
  sameAgain: (time) => `Dieselbe Abfrage, noch einmal ausgeführt ${time}; der Text oben gehört zu Version 1`,
  keepVersion: (number) => `V${number} als bestätigt speichern`,
  keptVersion: "Als bestätigtes Beispiel gespeichert",
  editing: "Läuft durch denselben Leseschutz und dieselben Grenzen wie jede Abfrage.",
};
