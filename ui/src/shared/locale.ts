/** How the page writes numbers and dates: in its own language, as the reader's country does it. */
import { texts } from "./texts";

const wished = typeof navigator === "undefined" ? [] : navigator.languages;

/** The reader's first locale of the page's language, such as de-CH; else the language. */
export const locale = wished.find((each) => each.split("-")[0] === texts.language) ?? texts.language;
