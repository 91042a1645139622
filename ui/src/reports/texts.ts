/** Texts of the dialog for reports, fetched with it. */
export const reports = {
  title: "Make a report",
  name: "Title",
  format: "Format",
  formats: {
    html: "One HTML file (prints as PDF)",
    markdown: "Markdown",
    ipynb: "Jupyter notebook",
  },
  older: "Show older answers",
  heading: "Heading (the question, if empty)",
  headingOf: (name: string) => `Heading of “${name}”`,
  before: "Text before it (Markdown)",
  textBefore: (question: string) => `Text before “${question}”`,
  up: (question: string) => `Move up “${question}”`,
  down: (question: string) => `Move down “${question}”`,
  preview: "Preview",
  download: "Download",
};
