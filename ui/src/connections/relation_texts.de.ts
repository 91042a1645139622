import type { Translated } from "../shared/translated";
import type { relationTexts as english } from "./relation_texts";

export const relationTexts: Translated<typeof english> = {
  title: "Beziehungen",
  none: "Keine Tabelle verweist auf eine andere.",
  choose: "Wählen Sie eine Tabelle, um ihre Spalten zu sehen.",
  picture:
    "Bild der Beziehungen. Pfeiltasten verschieben es, Plus und Minus ändern die Größe, 0 zeigt alles.",
  part: (shown, all) => `${shown} von ${all} Tabellen: die mit den meisten Beziehungen.`,
  zoomIn: "Vergrößern",
  zoomOut: "Verkleinern",
  whole: "Alles zeigen",
  more: (count) => `und ${count} weitere`,
  asList: (count) => (count === 1 ? "1 Beziehung als Liste" : `${count} Beziehungen als Liste`),
};
