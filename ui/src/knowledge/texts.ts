/** Texts of what a database knows and of its reviews, fetched with their pages. */
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

/** Texts of the knowledge as a file. */
export const transferTexts = {
  formats: { csv: "CSV", markdown: "Markdown" },
  exportLead: "Export examples, glossary, instructions, and descriptions of tables and columns",
  fileTitle: "knowledge",
  import: "Import",
  title: "Import knowledge",
  lead: "A CSV or Markdown file as an export writes it. Nothing is deleted, and an empty cell changes nothing.",
  file: "File",
  entries: "What becomes of each entry",
  columns: ["Line", "Outcome", "Entry"],
  outcomes: { new: "new", changed: "changed", same: "same", refused: "refused" },
  counts: (of: Record<"new" | "changed" | "same" | "refused", number>) =>
    `${of.new} new, ${of.changed} changed, ${of.same} the same, ${of.refused} refused.`,
  nothingStored: "Nothing is stored while a line is refused: correct the file and choose it again.",
  store: (changes: number) => (changes === 1 ? "Import 1 entry" : `Import ${changes} entries`),
  imported: (changes: number) => (changes === 1 ? "1 entry imported." : `${changes} entries imported.`),
} as const;

/** Texts of the questions to begin with. */
export const starterTexts = {
  title: "Starters",
  questions: "Questions to begin with, one a line",
  hint: (count: number, most: number) =>
    `${count} of ${most}. The start page shows them before the ones that KAI makes of the schema.`,
  saved: "Saved. The start page shows these questions first.",
} as const;

/** Texts of the terms in answers. */
export const termTexts = {
  title: "Glossary:",
  origin: (owner: string, when: string) => `Glossary of ${owner} · since ${when}`,
  changed: (when: string) => `Changed ${when}`,
} as const;

export const knowledgeTexts = {
  examples: "Examples",
  glossary: "Glossary",
  instructions: "Instructions",
  leads: {
    examples: "Questions with the SQL that answers them. Verified ones guide the model.",
    glossary: "Words of your business, and what they mean in the data.",
    instructions: "Rules for reading the data. The model reads them with every question.",
  },
  fields: {
    question: "Question",
    sql: "SQL",
    term: "Term",
    meaning: "Meaning",
    text: "Instruction",
    scope: "Only for the table",
  },
  optional: "optional",
  addOf: { examples: "Add an example", glossary: "Add a term", instructions: "Add an instruction" },
  editOf: { examples: "Edit the example", glossary: "Edit the term", instructions: "Edit the instruction" },
  add: "Add",
  edit: "Edit",
  added: "Kept",
  none: {
    examples: "Nothing here yet. Add a question with its SQL, or rate an answer as good.",
    glossary: "Nothing here yet. Add a word that has its own meaning here, such as “active customer”.",
    instructions: "Nothing here yet. Add what holds for each question, such as “Leave out test orders”.",
  },
  helped: (uses: number) => (uses === 1 ? "helped 1 answer" : `helped ${uses} answers`),
  broken: "broken",
  notUsed: "No answer uses it.",
  repair: "Repair",
  status: { proposed: "waits for review", verified: "verified", rejected: "rejected" },
} as const;
