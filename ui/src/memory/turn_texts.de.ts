import type { Translated } from "../shared/translated";
import type { turnTexts as english } from "./turn_texts";

export const turnTexts: Translated<typeof english> = {
  remembered: "Gemerkt",
  rememberThis: "Das merken",
  keptNow: (scope) => `Ab jetzt gemerkt (${scope})`,
  notKept: "Nicht gemerkt",
  forgotten: (text) => `Vergessen: ${text}`,
  scopes: {
    session: "Eine Sitzung",
    workspace: "Eine Datenbank",
    user: "Alle Ihre Fragen",
    shared: "Alle, die die Datenbank befragen",
  },
};
