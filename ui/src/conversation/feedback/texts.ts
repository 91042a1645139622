/** Texts of an answer that is kept as an example. */
export const keepTexts = {
  title: "Keep as verified example?",
  question: "Question",
  test: "Test",
  verify: "Verify",
  later: "Not now",
  sent: "Sent for review: the owner of the database can verify it as an example.",
  ran: (rows: string, time: string) => `${rows} rows in ${time}`,
  verified: "Verified. The same question is answered by it from now on.",
} as const;
