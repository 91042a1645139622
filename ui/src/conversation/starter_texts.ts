/** Suggested questions in the language of the page. */
import { inEnglish, type Starters } from "./starter_words";

export const starterTexts: Starters = inEnglish;
