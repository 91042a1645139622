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
  before: "Text before it (Markdown)",
  textBefore: (question: string) => `Text before “${question}”`,
  up: (question: string) => `Move up “${question}”`,
  down: (question: string) => `Move down “${question}”`,
  preview: "Preview",
  download: "Download",
};
