// Both JavaScript SDKs of LangGraph ask KAI twice, come back to a stream, and read the thread.
// A stream is read through URL, which may cut it; DIRECT never does.
import * as v1 from "langgraph-sdk-1";
import * as v2 from "langgraph-sdk-2";

const { ASSISTANT, DIRECT, URL: CUT } = process.env;
const MODES = ["values", "updates", "messages-tuple", "custom", "tasks"];

async function read(stream) {
  const parts = [];
  for await (const part of stream) if (part.event) parts.push({ id: part.id, event: part.event, data: part.data });
  return parts;
}

async function ask({ Client }) {
  const client = new Client({ apiUrl: DIRECT, apiKey: null, callerOptions: { maxRetries: 0 } });
  const cut = new Client({ apiUrl: CUT, apiKey: null });
  const assistants = await client.assistants.search({ limit: 100 });
  const thread = await client.threads.create();
  let created;
  const parts = await read(
    cut.runs.stream(thread.thread_id, ASSISTANT, {
      input: { messages: [{ type: "human", content: "How many customers per country?", id: "mine" }] },
      streamMode: MODES,
      streamResumable: true,
      onRunCreated: (run) => (created = run),
    }),
  );
  const joined = await read(
    client.runs.joinStream(thread.thread_id, created.run_id, { streamMode: MODES, lastEventId: "-1" }),
  );
  const waited = await client.runs.wait(thread.thread_id, ASSISTANT, {
    input: { messages: [{ role: "user", content: "How many orders?" }] },
  });
  const input = { messages: [{ role: "user", content: "How many orders?" }] };
  const [batched] = await client.runs.createBatch([{ assistantId: ASSISTANT, input, onCompletion: "delete" }]);
  const joinedBatch = await client.runs.join(batched.thread_id, batched.run_id);
  const state = await client.threads.getState(thread.thread_id);
  const history = await client.threads.getHistory(thread.thread_id);
  const found = await client.threads.search({ ids: [thread.thread_id] });
  const place = ["sdk", ASSISTANT];
  await client.store.putItem(place, "home", { page: "revenue" });
  const item = await client.store.getItem(place, "home");
  const items = await client.store.searchItems(["sdk"], { filter: { page: "revenue" }, query: "revenue" });
  const namespaces = await client.store.listNamespaces({ suffix: [ASSISTANT] });
  await client.store.deleteItem(place, "home");
  const none = await client.store.getItem(place, "home");
  const refusals = [];
  for (const refused of [
    () => client.runs.create(thread.thread_id, ASSISTANT, { input: null, webhook: "http://example.com" }),
    () => client.threads.get("01970000-0000-7000-8000-000000000000"),
    () => client.crons.search(),
  ]) {
    try {
      await refused();
      refusals.push(0);
    } catch (error) {
      refusals.push(error.status ?? error.message);
    }
  }
  await client.threads.delete(thread.thread_id);
  return {
    item,
    items,
    namespaces,
    none,
    assistants: assistants.map((each) => each.assistant_id),
    events: parts.map((part) => part.event),
    same: JSON.stringify(parts) === JSON.stringify(joined),
    values: parts.filter((part) => part.event === "values").at(-1).data,
    waited,
    batched: joinedBatch.analysis,
    same_state: JSON.stringify(waited) === JSON.stringify(state.values),
    states: history.length,
    found: found.length,
    refusals,
  };
}

console.log(JSON.stringify([await ask(v1), await ask(v2)]));
