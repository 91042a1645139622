/** Texts of the badges of verified statements, fetched with them. */
export const verifiedTexts = {
  by: (name: string, day: string) => `Verified by ${name} on ${day}`,
  title: (name: string, time: string) => `${name} reviewed this SQL for this question: ${time}`,
};
