import { count } from "../shared/time";
import type { Translated } from "../shared/translated";
import type { openerTexts as english } from "./opener_texts";

export const openerTexts: Translated<typeof english> = {
  title: "Kommentare",
  titled: (open) => `Kommentare (${count(open)} offen)`,
};
