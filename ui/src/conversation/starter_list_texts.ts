/** Texts of the list of suggested questions, fetched with it. */
export const starterListTexts = {
  examples: "For example",
  reading: "Reading the schema …",
};
