/** Opens a call of an investigation from elsewhere in its answer. */

export const anchorOf = (callId: string) => `call-${callId}`;

/** Opens the call and what it stands in, and moves the focus to it. On a slow network the steps are drawn after
 * what leads to them: then as soon as they are there, for about a minute. */
export function openCall(callId: string, frames = 3_600): void {
  const call = document.getElementById(anchorOf(callId));
  if (!call && frames) requestAnimationFrame(() => openCall(callId, frames - 1));
  for (let each: Element | null = call; each !== null; each = each.parentElement)
    if (each instanceof HTMLDetailsElement) each.open = true;
  call?.querySelector("summary")?.focus();
  call?.scrollIntoView({ block: "center" });
}
