import type { Translated } from "../../shared/translated";
import type { chartTexts as english } from "./texts";

export const chartTexts: Translated<typeof english> = {
  failed: "Dieses Diagramm lässt sich nicht zeichnen. Die Zahlen stehen in der Tabelle.",
  none: "Für diese Zeilen ist kein Diagramm vorgeschlagen. Wählen Sie eines.",
  unnamed: "Diagramm",
  allDrawn: (rows) => `${rows}, alle gezeichnet`,
  drawnAs: (rows, points) => `${rows}, als ${points === "1" ? "1 Punkt" : `${points} Punkte`} gezeichnet`,
  change: "Ändern: das Diagramm",
  changeIt: "Ändern",
  save: "Speichern: das Diagramm",
  saveIt: "Speichern",
  saveAs: { png: "Als PNG-Datei", svg: "Als SVG-Datei", json: "Als Vega-Lite-Spezifikation (JSON)" },
  keys: "Werte des Diagramms: Pfeiltasten gehen von einem zum nächsten",
  legend: "Reihen: drücken, um eine aus- oder einzublenden",
};
