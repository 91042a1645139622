import type { Translated } from "./translated";
import type { clashTexts as english } from "./clash_texts";

export const clashTexts: Translated<typeof english> = {
  title: "Das wurde inzwischen geändert",
  lead: "Eine andere Änderung wurde gespeichert, nachdem Sie diese begonnen haben. Welche soll bleiben?",
  theirs: "Inzwischen gespeichert",
  mine: "Ihre",
  keepTheirs: "Die gespeicherte behalten",
  keepMine: "Meine speichern",
};
