/** Texts of what an investigation points at, and of calls that wait for a person. */
export const pointerTexts = {
  label: "Code, links and next steps",
  checked: "Checked: only reads, and its names exist. Not run.",
  unchecked: "Not checked, and not run by KAI",
} as const;

export const confirmationTexts = {
  label: (tool: string) => `Approval of the call: ${tool}`,
  waits: "This call waits for your approval",
  left: (time: string) => `${time} left`,
  over: "The time is over",
  destination: "Goes to",
  approve: "Approve",
  edit: "Edit",
  editing: (tool: string) => `Arguments of the call: ${tool}`,
  proposed: "What is proposed so far:",
  approveEdited: "Approve with these arguments",
  optional: "optional",
  refused: "The call cannot run with these arguments",
  notJson: (name: string) => `The value of ${name} is not valid JSON. The call still waits.`,
  edited: "The arguments were changed before the call was approved.",
  deny: "Deny",
  reason: "Reason for the model (optional)",
  withdraw: "Withdraw, and end this answer",
} as const;
