/** The language of the page: a cookie names it, by which the server chooses among the built pages. */

/** `browser`: the language that the browser asks for first and the page has. */
export type Language = "browser" | "en" | "de";

const COOKIE = "kai_language";
const AGE_SECONDS = 34_560_000; // 400 days, the most that browsers keep a cookie

export function chosenLanguage(): Language {
  const [, chosen] = new RegExp(`(?:^|; )${COOKIE}=(en|de)(?:;|$)`).exec(document.cookie) ?? [];
  return (chosen as Language | undefined) ?? "browser";
}

/** Loads the page again in the language. */
export function chooseLanguage(language: Language): void {
  const age = language === "browser" ? 0 : AGE_SECONDS;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${COOKIE}=${language}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
  location.reload();
}
