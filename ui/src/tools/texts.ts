/** Texts of the page of tools, and of what is said where they are switched off. */

/** What is said in place of tools or rules that are switched off. */
export const offTexts = {
  needModel: { investigations: "Tools need a language model", rules: "Rules need a language model" },
  why: {
    investigations:
      "None is connected. The built-in writer answers simple questions, and calls no tools for them.",
    rules: "None is connected. The built-in writer answers simple questions, and follows no rules.",
  },
  connect: "To connect a model, set KAI_LLM__BASE_URL and KAI_LLM__MODEL where KAI runs, and start it again.",
  isOff: { investigations: "Tools are switched off", rules: "Rules are switched off" },
  settings: "Language model in the settings",
} as const;

export const toolTexts = {
  lead: "What investigations may call. Calls that ask run only after you have approved them.",
  gates: { free: "runs", asks: "asks first", never: "never called" },
  categories: {
    read: "reads",
    write: "writes",
    delete: "deletes",
    external: "leaves KAI",
    extension: "extension",
  },
  agentOnly: "in agent mode only",
  nowhere: "not offered",
  schema: "Arguments",
  extensions: "Extensions",
  failed: "Not loaded:",
  servers: "MCP servers",
  statuses: {
    NotConnected: "not connected",
    Connecting: "connecting",
    Connected: "connected",
    FailedToConnect: "failed to connect",
  },
  states: {
    approved: "approved, asks first",
    new: "waits for an administrator",
    changed: "changed since it was approved, not offered",
    unusable: "cannot be used",
  },
  was: "As it was approved",
  now: "As it is now",
  approve: (tool: string) => `Approve ${tool} as it is now`,
  leftOut: (count: number) => `${count} more are left out.`,
} as const;
