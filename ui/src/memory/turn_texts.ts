/** Texts of what a session shows of its memory, fetched with it. */
export const turnTexts = {
  remembered: "Remembered",
  rememberThis: "Remember this",
  keptNow: (scope: string) => `Remembered from now on (${scope})`,
  notKept: "Not remembered",
  forgotten: (text: string) => `Forgotten: ${text}`,
  scopes: {
    session: "One session",
    workspace: "One database",
    user: "All your questions",
    shared: "Everyone who asks the database",
  },
};
