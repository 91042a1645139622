/** Texts of the SQL of an answer, fetched with its panel. */
export const sqlTexts = {
  copy: "Copy SQL",
  edit: "Edit",
  format: "Format",
  run: "Run",
  editor: "SQL editor",
  corrected: "Corrected:",
  versions: "Versions of the answer",
  version: (number: number) => `Version ${number}`,
  ownVersion: "The answer's own statement",
  laterVersion: (time: string) => `A statement of yours, run ${time}; the text above is about version 1`,
  sameAgain: (time: string) => `The same statement, run again ${time}; the text above is about version 1`,
  keepVersion: (number: number) => `Keep v${number} as verified`,
  keptVersion: "Kept as a verified example",
  editing: "Runs through the same read-only guard and limits as every statement.",
} as const;
