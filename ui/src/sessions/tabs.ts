/** Other tabs of this browser hear at once what happens to a session here. */
const channel = new BroadcastChannel("kai.sessions");

export function tellTabs(sessionId: string): void {
  channel.postMessage(sessionId);
}

/** Calls back with the session when another tab has changed it, and with null when this tab comes back. */
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
