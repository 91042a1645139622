/** Texts of the page of tools. */
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
