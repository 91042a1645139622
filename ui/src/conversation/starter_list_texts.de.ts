import type { Translated } from "../shared/translated";
import type { starterListTexts as english } from "./starter_list_texts";

export const starterListTexts: Translated<typeof english> = {
  examples: "Zum Beispiel",
  reading: "Das Schema wird eingelesen …",
};
