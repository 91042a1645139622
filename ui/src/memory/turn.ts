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
