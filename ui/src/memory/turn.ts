/** What a session shows of its memory, without the code of the page of memory. */
import type { Fact } from "../api/types";

export const KINDS = [
  "terminology",
  "preference",
  "decision",
  "lesson_learned",
  "procedure",
  "task_update",
] as const satisfies Fact["kind"][];
export const LONGEST = 500;

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
