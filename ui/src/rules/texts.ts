/** Texts of the page of rules. */
export const ruleTexts = {
  lead: "Models follow these. Where two disagree, the earlier one counts.",
  add: "Add a rule",
  edit: "Edit",
  none: "There are no rules yet.",
  on: "on",
  off: "off",
  switchOn: "Switch on",
  switchOff: "Switch off",
  applies: {
    always: "always",
    auto: "when its tables are concerned",
    manual: "when a question names it",
  },
  writtenBy: (owner: string) => `by ${owner}`,
  fromFile: (path: string) => `file ${path}`,
  priority: (priority: number) => `priority ${priority}`,
  everywhere: "everywhere",
  everyDatabase: "All databases",
  fields: {
    name: "Name",
    text: "Rule",
    connection: "Database",
    apply: "Applies",
    patterns: "Tables (patterns, such as payroll_*)",
    priority: "Priority (lower comes first)",
  },
} as const;
