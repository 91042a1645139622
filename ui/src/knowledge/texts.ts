/** Texts of the reviews of examples, which few pages need. */
import { count } from "../shared/time";

export const reviewTexts = {
  title: (count: string) => `Waiting for your review (${count})`,
  lead: "Liked and corrected answers. A verified one answers its question from then on.",
  answer: "Answer",
  noAnswer: "The answer was corrected, or its text is not kept.",
  askedBy: (owner: string, when: string) => `Asked by ${owner} · ${when}`,
  run: "Run it",
  rows: "Rows of the statement",
  ran: (rows: number, time: string, first: number) =>
    `${rows === 1 ? "1 row" : `${count(rows)} rows`} in ${time}${first < rows ? `; the first ${first}:` : ":"}`,
  verify: "Verify",
  reject: "Reject",
  verified: "Verified. It answers this question from now on.",
  rejected: "Rejected.",
} as const;
