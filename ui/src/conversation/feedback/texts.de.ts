import type { Translated } from "../../shared/translated";
import type { keepTexts as english } from "./texts";

export const keepTexts: Translated<typeof english> = {
  title: "Als bestätigtes Beispiel speichern?",
  question: "Frage",
  test: "Testen",
  verify: "Bestätigen",
  later: "Jetzt nicht",
  sent: "Zur Prüfung gesendet: Der Inhaber der Datenbank kann es als Beispiel bestätigen.",
  ran: (rows, time) => (rows === "1" ? `1 Zeile in ${time}` : `${rows} Zeilen in ${time}`),
  verified: "Bestätigt. Damit wird dieselbe Frage von jetzt an beantwortet.",
};
