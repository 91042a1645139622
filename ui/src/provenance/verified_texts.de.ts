import type { Translated } from "../shared/translated";
import type { verifiedTexts as english } from "./verified_texts";

export const verifiedTexts: Translated<typeof english> = {
  by: (name, day) => `Bestätigt von ${name} am ${day}`,
  title: (name, time) => `${name} hat dieses SQL für diese Frage geprüft: ${time}`,
};
