/** The chart of an answer that is chosen while the answer is still written. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Conversation as Store } from "./conversation";

const PATIENT = { timeout: 30_000 };
const ANSWER = "01970000-0000-7000-8000-00000000000a";
const CHOICE = { mark: "line" };
const STORED = {
  id: "s",
  title: null,
  status: "idle",
  messages: { items: [], next_cursor: null },
};

/** The server: what it was asked to change, and the stream of the run, which the test writes. */
let changes: unknown[];
let stream: ReadableStreamDefaultController<Uint8Array>;
let last: number;
let Conversation: typeof Store;

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

beforeEach(async () => {
  changes = [];
  const kept = new Map<string, string>();
  const events = new EventTarget();
  vi.stubGlobal("window", events);
  vi.stubGlobal("addEventListener", events.addEventListener.bind(events));
  vi.stubGlobal("document", Object.assign(new EventTarget(), { hidden: true }));
  vi.stubGlobal("location", new URL("http://kai.example/sessions/s"));
  vi.stubGlobal("history", { state: null, replaceState: () => undefined });
  const storage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
  };
  vi.stubGlobal("sessionStorage", storage);
  vi.stubGlobal("localStorage", storage);
  vi.stubGlobal("fetch", answered);
  vi.stubGlobal("Request", RequestOfPage);
  vi.resetModules();
  ({ Conversation } = await import("./conversation"));
});

afterEach(() => vi.unstubAllGlobals());

/** Addresses of a page may leave out its origin. */
class RequestOfPage extends Request {
  constructor(input: Request | string, init?: RequestInit) {
    super(typeof input === "string" ? new URL(input, "http://kai.example") : input, init);
  }
}

async function answered(input: Request | string, init?: RequestInit): Promise<Response> {
  const request = new RequestOfPage(input, init);
  const { pathname } = new URL(request.url);
  if (pathname.endsWith("/query/stream")) {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (stream = controller) });
    return new Response(body, { headers: { "X-Run-Id": "r" } });
  }
  if (request.method === "PATCH") changes.push([pathname, await request.json()]);
  return Response.json(pathname.endsWith("/sessions") ? { items: [], next_cursor: null } : STORED);
}

/** Lets the answer's stream say something. */
function say(event: string, data: object): void {
  last += 1;
  stream.enqueue(new TextEncoder().encode(`id: ${last}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
}

/** A store whose question is being answered: its chart is there, and its message is not stored yet. */
async function answering(): Promise<Store> {
  last = 0;
  const store = new Conversation("s");
  store.ask("Revenue per month");
  await vi.waitFor(() => expect(store.running.value?.answer.runId).toBe("r"), PATIENT);
  say("chunk", { type: "chart", content: { mark: "bar" } });
  await vi.waitFor(() => expect(store.exchanges.value[0]?.answer.chart).toEqual({ mark: "bar" }), PATIENT);
  return store;
}

test("a chart that is chosen early is drawn at once, and kept when its answer is stored", async () => {
  const store = await answering();
  const [exchange] = store.exchanges.value;
  if (exchange) store.chooseChart(exchange, CHOICE);
  expect(store.exchanges.value[0]?.answer.chart_choice).toEqual(CHOICE);
  expect(changes).toEqual([]);
  say("done", { run_id: "r", session_id: "s", message_id: ANSWER, status: "complete", tokens_used: 0 });
  await vi.waitFor(
    () => expect(changes).toEqual([[`/api/v1/sessions/s/messages/${ANSWER}`, { chart_choice: CHOICE }]]),
    PATIENT,
  );
  expect(store.exchanges.value[0]?.answer.chart_choice).toEqual(CHOICE);
  store.close();
});

test("a chart that is chosen early waits in the tab if the page is left before its answer is stored", async () => {
  const store = await answering();
  const [exchange] = store.exchanges.value;
  if (exchange) store.chooseChart(exchange, CHOICE);
  store.close();
  expect(changes).toEqual([]);
  expect(sessionStorage.getItem("kai.chart.r")).toBe(JSON.stringify(CHOICE));
});
