/** Texts of the page of unknown addresses, fetched with it. */
export const notFoundTexts = {
  title: "This page does not exist, or is not shared with you",
  lead: (path: string) => `The address ends in ${path}. Its sender can share it under Share.`,
  boards: "Your boards",
} as const;
