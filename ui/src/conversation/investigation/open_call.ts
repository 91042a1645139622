/** Opens a call of an investigation from elsewhere in its answer. */

export const anchorOf = (callId: string) => `call-${callId}`;

/** Opens the call and what it stands in, and moves the focus to it. */
export function openCall(callId: string): void {
  const call = document.getElementById(anchorOf(callId));
  for (let each: Element | null = call; each !== null; each = each.parentElement)
    if (each instanceof HTMLDetailsElement) each.open = true;
  call?.querySelector("summary")?.focus();
  call?.scrollIntoView({ block: "center" });
}
