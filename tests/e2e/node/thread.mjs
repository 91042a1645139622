// The event streaming (v3) of LangGraph's JavaScript SDK: a run whose streams are cut until it has ended, the
// same thread read by a client that comes afterwards, and a run that fails.
import { Client } from "langgraph-sdk-1";

const { ASSISTANT, URL } = process.env;
const CHANNELS = ["lifecycle", "values", "updates", "messages", "tools", "input", "custom", "tasks"];
const LONGEST = 6000;

const client = new Client({ apiUrl: URL, apiKey: null });
const fetched = globalThis.fetch;
let hasEnded; // called when the run has: streams that begin before are cut, and those after the first wait
let ended = new Promise((resolve) => (hasEnded = resolve));
let cuts = 0;

globalThis.fetch = async (url, options) => {
  if (!String(url).endsWith("/stream/events") || !ended) return fetched(url, options);
  if (cuts) {
    await ended;
    return fetched(url, options);
  }
  const response = await fetched(url, options);
  let size = 0;
  const body = response.body.pipeThrough(
    new TransformStream({
      transform(bytes, controller) {
        controller.enqueue(bytes.subarray(0, LONGEST - size));
        size += bytes.length;
        if (size >= LONGEST) {
          cuts += 1;
          controller.error(new TypeError("terminated"));
        }
      },
    }),
  );
  return new Response(body, { status: response.status, headers: response.headers });
};

async function events(thread) {
  const found = [];
  for await (const event of await thread.subscribe({ channels: CHANNELS })) {
    found.push(event);
    const { data } = event.params;
    if (event.method === "lifecycle" && ["completed", "failed"].includes(data.event)) break;
  }
  return found.sort((one, other) => one.seq - other.seq); // streams of one client overlap
}

const asked = { messages: [{ role: "user", content: "How many customers per country?" }] };
const thread = client.threads.stream({ assistantId: ASSISTANT });
const run = await thread.run.start({ input: asked });
client.runs.join(thread.threadId, run.run_id).then(hasEnded);
const seen = await events(thread);
ended = undefined;

const again = await events(client.threads.stream(thread.threadId, { assistantId: ASSISTANT }));
const late = client.threads.stream(thread.threadId, { assistantId: ASSISTANT });
const output = await late.output;

const failing = client.threads.stream({ assistantId: ASSISTANT });
await failing.run.start({ input: { messages: [{ role: "user", content: "broken" }] } });
const failed = await events(failing);

console.log(
  JSON.stringify({
    cuts,
    events: seen.length,
    methods: [...new Set(seen.map((event) => event.method))].sort(),
    same: JSON.stringify(seen) === JSON.stringify(again),
    messages: output.messages.length,
    failure: failed.at(-1).params.data,
  }),
);
process.exit(0); // its streams of threads stay open
