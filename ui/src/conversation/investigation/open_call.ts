/** Opens a call of an investigation from elsewhere in its answer. */

export const anchorOf = (callId: string) => `call-${callId}`;

/** Opens the call and what it stands in, and moves the focus to it. On a slow network the steps come after what
 * leads to them: then as soon as they are there, unless the user does something else first. */
export function openCall(callId: string): void {
  if (open(callId)) return;
  const observer = new MutationObserver(() => open(callId) && observer.disconnect());
  observer.observe(document.body, { childList: true, subtree: true });
  for (const moved of ["pointerdown", "keydown"])
    document.addEventListener(moved, () => observer.disconnect(), { once: true });
}

/** Whether the call is there to be opened. */
function open(callId: string): boolean {
  const call = document.getElementById(anchorOf(callId));
  for (let each: Element | null = call; each !== null; each = each.parentElement)
    if (each instanceof HTMLDetailsElement) each.open = true;
  call?.querySelector("summary")?.focus();
  call?.scrollIntoView({ block: "center" });
  return call !== null;
}
