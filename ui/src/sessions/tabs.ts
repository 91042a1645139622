/** Notifies the other tabs of this browser of a changed session. */
const channel = new BroadcastChannel("kai.sessions");

export function tellTabs(sessionId: string): void {
  channel.postMessage(sessionId);
}

/** Calls back with a session that another tab has changed, and with null when this tab is shown again. */
export function onNews(heard: (sessionId: string | null) => void): () => void {
  const onMessage = (event: MessageEvent<string>) => heard(event.data);
  const onVisible = () => {
    if (!document.hidden) heard(null);
  };
  channel.addEventListener("message", onMessage);
  document.addEventListener("visibilitychange", onVisible);
  return () => {
    channel.removeEventListener("message", onMessage);
    document.removeEventListener("visibilitychange", onVisible);
  };
}
