/** Texts of two edits of one record. */
export const clashTexts = {
  title: "This was changed meanwhile",
  lead: "Another edit was saved after you opened this one. Which one stays?",
  theirs: "Saved meanwhile",
  mine: "Yours",
  keepTheirs: "Keep the saved one",
  keepMine: "Save mine",
};
