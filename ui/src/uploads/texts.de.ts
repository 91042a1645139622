import type { Translated } from "../shared/translated";
import type { uploads as english } from "./texts";

export const uploads: Translated<typeof english> = {
  choose: "Datei wählen",
  drop: "oder ziehen Sie eine CSV-, Excel- oder Parquet-Datei hierher. Nur Sie sehen sie.",
  sending: "Die Datei wird gesendet …",
  reading: "Die Datei wird gelesen …",
  read: (name) => `${name} ist eingelesen`,
  check: "Prüfen Sie die Typen der Spalten. Was nicht zu einem Typ passt, bleibt leer.",
  again: "Mit diesen Typen neu lesen",
  open: "Datenbank öffnen",
  column: "Spalte",
  type: "Typ",
  samples: "Einige Zellen",
  typeOf: (column) => `Typ von ${column}`,
  table: (name, rows) => (rows === "1" ? `${name}: 1 Zeile` : `${name}: ${rows} Zeilen`),
  notFitting: (cells, all) => `${cells} von ${all} Zellen passen nicht und sind leer:`,
  types: {
    text: "Text",
    integer: "Ganze Zahl",
    number: "Zahl (1,234.5)",
    "number comma": "Zahl (1.234,5)",
    boolean: "Ja oder nein",
    date: "Datum (2026-01-31)",
    "date dmy": "Datum (31.01.2026)",
    "date mdy": "Datum (01/31/2026)",
    datetime: "Zeitpunkt (2026-01-31 10:00)",
    "datetime dmy": "Zeitpunkt (31.01.2026 10:00)",
    "datetime mdy": "Zeitpunkt (01/31/2026 10:00)",
  },
};
