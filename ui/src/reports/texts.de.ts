import type { Translated } from "../shared/translated";
import type { reports as english } from "./texts";

export const reports: Translated<typeof english> = {
  title: "Bericht erstellen",
  name: "Titel",
  format: "Format",
  formats: {
    html: "Eine HTML-Datei (lässt sich als PDF drucken)",
    markdown: "Markdown",
    ipynb: "Jupyter-Notebook",
  },
  older: "Ältere Antworten zeigen",
  heading: "Überschrift (wenn leer, die Frage)",
  headingOf: (name) => `Überschrift von „${name}“`,
  before: "Text davor (Markdown)",
  textBefore: (question) => `Text vor „${question}“`,
  up: (question) => `„${question}“ nach oben`,
  down: (question) => `„${question}“ nach unten`,
  preview: "Vorschau",
  download: "Herunterladen",
};
