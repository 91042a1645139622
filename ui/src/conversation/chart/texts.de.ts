import type { Translated } from "../../shared/translated";
import type { chartTexts as english } from "./texts";

const HOWS = { sum: "die Summe", mean: "der Mittelwert", count: "die Anzahl", median: "der Median" };
const TIMES = { day: "Tag", week: "Woche", month: "Monat", quarter: "Quartal", year: "Jahr" };
const ENDS = {
  day: ["Der erste Tag", "Der letzte Tag"],
  week: ["Die erste Woche", "Die letzte Woche"],
  month: ["Der erste Monat", "Der letzte Monat"],
  quarter: ["Das erste Quartal", "Das letzte Quartal"],
  year: ["Das erste Jahr", "Das letzte Jahr"],
} as const;

export const chartTexts: Translated<typeof english> = {
  type: "Diagrammtyp",
  marks: {
    bar: "Balken",
    stacked: "Gestapelte Balken",
    percent: "100-%-Balken",
    line: "Linie",
    area: "Fläche",
    point: "Punkte",
    arc: "Kreis",
    histogram: "Histogramm",
    heat: "Heatmap",
    combo: "Balken und Linie",
  },
  x: "Achse",
  y: "Wert",
  series: "Farbe",
  noSeries: "Keine",
  drawing: "Das Diagramm wird gezeichnet …",
  failed: "Dieses Diagramm lässt sich nicht zeichnen. Die Zahlen stehen in der Tabelle.",
  allDrawn: (rows) => `${rows}, alle gezeichnet`,
  drawnAs: (rows, points) => `${rows}, als ${points === "1" ? "1 Punkt" : `${points} Punkte`} gezeichnet`,
  how: "Zusammengefasst durch",
  aggregates: { none: "wie sie sind", sum: "Summe", mean: "Mittelwert", count: "Anzahl", median: "Median" },
  second: "Zweiter Wert",
  more: "Weitere Optionen",
  sort: "Reihenfolge",
  sorts: { rows: "Wie in der Tabelle", value: "Nach Wert", name: "Nach Name", natural: "Natürlich" },
  time: "Zeiteinheit",
  times: TIMES,
  asIs: "Wie sie ist",
  format: "Zahlen",
  formats: { auto: "Automatisch", plain: "Ausgeschrieben", compact: "Kurz", percent: "Prozent" },
  unit: "Einheit",
  unitHint: "EUR",
  title: "Titel",
  reset: "Zurücksetzen",
  save: "Diagramm speichern",
  saveAs: { png: "Als PNG-Datei", svg: "Als SVG-Datei" },
  rowsTitle: "Zeilen",
  measures: "Wert",
  binned: (column) => `Jeder Balken zählt die Zeilen, deren ${column} in seinem Bereich liegt.`,
  distribution: (column) => `Verteilung von ${column}`,
  heading: (value, by) => {
    const text = `${value} nach ${by.join(" und ")}`;
    return text.charAt(0).toUpperCase() + text.slice(1);
  },
  together: (how, place, time) =>
    `Jeder Punkt ist ${HOWS[how]} der Zeilen je ${time ? `${TIMES[time]} von ${place}` : place}.`,
  begins: (unit, day) => `${ENDS[unit][0]} hat erst ab ${day} Daten.`,
  ends: (unit, day) => `${ENDS[unit][1]} hat nur bis ${day} Daten.`,
  running: (unit, day) => `${ENDS[unit][1]} ist noch nicht vorbei: Die Daten reichen bis ${day}.`,
  noParts: "Balken nebeneinander, da die Werte nicht Teile eines Ganzen sind.",
  thinned: (every) => `Einer von ${every} Punkten wird gezeigt.`,
  other: (names) => `Andere (${names})`,
  leaders: (names, column, kept, other) =>
    `Von ${names} Werten von ${column} werden die ${kept} höchsten gezeigt; ${
      other ? `die übrigen sind als ${other} zusammengezählt` : "die übrigen fehlen"
    }.`,
  several: (place) => `Mehrere Werte haben dasselbe ${place}: Jeder ist ein Punkt.`,
  label: (value, category, how) => [`Diagramm von ${value} nach ${category}.`, how].filter(Boolean).join(" "),
  keys: "Werte des Diagramms: Pfeiltasten gehen von einem zum nächsten",
  legend: "Reihen: drücken, um eine aus- oder einzublenden",
  unknown: "unbekannt",
  days: ["So", "Mo", "Di", "Mi", "Do", "Fr", "Sa"],
  months: ["Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sep.", "Okt.", "Nov.", "Dez."],
  dayOfMonth: (day, month) => `${day}. ${month}`,
  extreme: (value, where) => (where ? `${value} (${where})` : value),
  summary: (lowest, highest) => `Niedrigster Wert ${lowest}, höchster ${highest}.`,
  rises: "Die Werte steigen.",
  falls: "Die Werte fallen.",
  level: "Die Werte bleiben etwa gleich.",
};
