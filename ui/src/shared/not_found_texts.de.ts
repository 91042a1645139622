import type { notFoundTexts as english } from "./not_found_texts";
import type { Translated } from "./translated";

export const notFoundTexts: Translated<typeof english> = {
  title: "Diese Seite gibt es nicht, oder sie ist nicht mit Ihnen geteilt",
  lead: (path) => `Die Adresse endet auf ${path}. Wer sie geschickt hat, kann sie unter „Teilen“ freigeben.`,
  boards: "Ihre Pinnwände",
};
