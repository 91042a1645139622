// Two questions in one thread, a failing one, and a refused one, by AG-UI's own client.
import { HttpAgent } from "@ag-ui/client";

const agent = new HttpAgent({ url: process.env.KAI_AGENT, threadId: `thread ${Date.now()}` });

async function ask(content, input = {}) {
  agent.messages.push({ id: `${Math.random()}`, role: "user", content });
  await agent.runAgent(input);
}

await ask("How many customers?");
await ask("And now?");
const messages = structuredClone(agent.messages);

let failure = "";
await agent.runAgent({}, { onRunErrorEvent: ({ event }) => void (failure = event.message) }).catch((error) => {
  failure ||= `${error}`;
});

let refusal = "";
agent.messages.push({ id: "last", role: "user", content: "Once more?" });
await agent.runAgent({ tools: [{ name: "f", description: "" }] }).catch((error) => {
  refusal = `${error}`;
});

console.log(JSON.stringify({ messages, failure, refusal }));
