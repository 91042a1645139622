/** Texts of the targets of schedules. */

export const targetTexts = {
  legend: "Send it to people, too",
  mail: "Mail addresses, with commas between them",
  address: "ada@example.com",
  chat: "Chat: the URL of a webhook of Slack, Teams, Discord and others",
  chatHint: "The URL is kept encrypted and not shown again.",
  remove: (label: string) => `Do not send to ${label} any more`,
  sent: (labels: string) => `and messages to ${labels}`,
  test: (times: string) => `Send a test for ${times}`,
  tested: (labels: string) => `Sent a test to ${labels}.`,
  notDelivered: (label: string, error: string) => `Not sent to ${label}: ${error}`,
  waiting: (label: string, error: string) => `Sending to ${label} is tried again: ${error}`,
  webhook: "the webhook",
};
