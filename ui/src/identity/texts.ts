/** Texts of the sign-in, fetched with it. */
export const identity = {
  title: "Sign in",
  lead: "KAI wants to know who asks before it answers.",
  provider: (name: string) => `Sign in with ${name}`,
  or: "or",
  credential: "API key or token",
  hint: "It begins with kai_, or comes from your identity provider.",
  stays: "Remember on this device",
  staysHint: "All tabs of this browser are signed in, for 30 days at most. Only with an API key.",
  tabHint: "It is forgotten when this tab is closed.",
  signIn: "Sign in",
  wrong: "That did not work",
  wrongLead: "The key is unknown or no longer valid. An administrator can give you a new one.",
  failed: "You are not signed in",
  /** By the failure that the server names in the address. */
  failures: {
    denied: "The identity provider did not let you in, or you declined. You can try again.",
    expired: "The sign-in took too long, was used before, or began in another window. Please try again.",
    refused:
      "The identity provider's answer could not be accepted. Please try again; if that does not help, an administrator finds the reason in KAI's log.",
    busy: "Too many sign-ins from your network have failed. Please try again in a minute.",
    unavailable: "The identity provider cannot be reached. Please try again in a moment.",
  } as Record<string, string>,
};
