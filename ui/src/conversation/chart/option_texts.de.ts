import type { Translated } from "../../shared/translated";
import type { optionTexts as english } from "./option_texts";

export const optionTexts: Translated<typeof english> = {
  name: "Berechnen",
  none: "Nichts",
  kinds: {
    moving_average: "Gleitender Durchschnitt",
    change: "Änderung je Periode",
    outliers: "Ausreißer",
    projection: "Prognose",
  },
  window: "Perioden",
  windowHint: "auto",
};
