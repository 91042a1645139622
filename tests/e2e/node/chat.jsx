// A chat page with `useStream`. Its address names the server, the assistant and, once there is one, the thread.
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { useStream } from "langgraph-sdk-2/react";

const address = new URLSearchParams(location.search);

function Message({ type, content, tool_calls: calls = [] }) {
  return (
    <li data-type={type}>
      {typeof content === "string" ? content : content.map((block) => block.text ?? "").join("")}
      {calls.map((call) => (
        <code key={call.id}>{call.args.sql}</code>
      ))}
    </li>
  );
}

function Chat() {
  const [threadId, setThreadId] = useState(address.get("thread"));
  const stream = useStream({
    apiUrl: address.get("api"),
    assistantId: address.get("assistant"),
    messagesKey: "messages",
    fetchStateHistory: true,
    reconnectOnMount: true,
    threadId,
    onThreadId: (id) => {
      setThreadId(id);
      address.set("thread", id);
      history.replaceState(null, "", `?${address}`);
    },
  });
  const ask = (event) => {
    event.preventDefault();
    const messages = [{ type: "human", content: new FormData(event.target).get("question") }];
    stream.submit({ messages }, { streamMode: ["values", "messages-tuple"], streamResumable: true });
    event.target.reset();
  };
  const decide = (decision) => stream.submit(undefined, { command: { resume: { decisions: [decision] } } });
  const edit = (event, { name, args }) => {
    event.preventDefault();
    const text = new FormData(event.target).get("text");
    decide({ type: "edit", edited_action: { name, args: { ...args, text } } });
  };
  return (
    <main>
      <ol>
        {stream.messages.map((message) => (
          <Message key={message.id} {...message} />
        ))}
      </ol>
      {stream.interrupt?.value.action_requests.map((request) => (
        <section key={`${stream.interrupt.id} ${request.description}`}>
          {request.description} <button onClick={() => decide({ type: "approve" })}>Approve</button>
          <button onClick={() => decide({ type: "reject", message: "Not now." })}>Reject</button>
          <form onSubmit={(event) => edit(event, request)}>
            <input name="text" aria-label="Text" defaultValue={request.args.text} />
          </form>
        </section>
      ))}
      <form onSubmit={ask}>
        <input name="question" aria-label="Question" />
        <output>{stream.isLoading ? "…" : "ready"}</output>
      </form>
      {stream.error && <p role="alert">{String(stream.error)}</p>}
    </main>
  );
}

createRoot(document.getElementById("root")).render(<Chat />);
