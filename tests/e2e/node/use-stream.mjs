// A page with `useStream` of both JavaScript SDKs: asks twice, is opened again, and stops an answer.
import { JSDOM } from "jsdom";

const dom = new JSDOM("<!doctype html><div id=root></div>", { url: "http://127.0.0.1/" });
globalThis.window = dom.window;
globalThis.document = dom.window.document;
globalThis.navigator = dom.window.navigator;
globalThis.IS_REACT_ACT_ENVIRONMENT = false;

const { createElement, useEffect } = await import("react");
const { createRoot } = await import("react-dom/client");
const hooks = [await import("langgraph-sdk-1/react"), await import("langgraph-sdk-2/react")];

const { ASSISTANT, URL } = process.env;

function page(useStream, options) {
  const shown = { current: null };
  const Page = () => {
    const stream = useStream({
      apiUrl: URL,
      assistantId: ASSISTANT,
      messagesKey: "messages",
      fetchStateHistory: true,
      ...options,
    });
    useEffect(() => {
      shown.current = stream;
    });
    return null;
  };
  const root = createRoot(document.createElement("div"));
  root.render(createElement(Page));
  return { shown, close: () => root.unmount() };
}

async function until(met, what) {
  for (let left = 600; left > 0; left--) {
    if (met()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`waited in vain for ${what}`);
}

const textOf = (m) => (typeof m?.content === "string" ? m.content : (m?.content ?? []).map((block) => block.text ?? "").join(""));

const texts = (stream) => stream.messages.filter((m) => m.type !== "tool" && m.content).map(textOf);

const brief = (m) => [m.type, m.type === "tool" ? JSON.parse(m.content).rows : (m.tool_calls ?? []).map((c) => [c.name, c.args])];

async function branch(shown, place, input) {
  const before = texts(shown.current);
  const message = shown.current.messages[place];
  const checkpoint = shown.current.getMessagesMetadata(message).firstSeenState.parent_checkpoint;
  // A choice of branches is offered once, at the first message that differs.
  const options = () => shown.current.getMessagesMetadata(shown.current.messages[0])?.branchOptions ?? [];
  const known = Math.max(1, options().length);
  await shown.current.submit(input, { checkpoint, streamMode: ["values"] });
  await until(() => options().length > known && !shown.current.isLoading, "another branch");
  const after = texts(shown.current);
  const [earlier, latest] = options().slice(-2);
  shown.current.setBranch(earlier);
  await until(() => String(texts(shown.current)) === String(before), "the earlier branch");
  shown.current.setBranch(latest);
  await until(() => String(texts(shown.current)) === String(after), "the latest branch");
  return after;
}

function submit(shown, text) {
  const messages = [{ type: "human", content: text }];
  return shown.current.submit(
    { messages },
    {
      streamMode: ["values", "messages-tuple", "custom"],
      optimisticValues: (before) => ({
        ...before,
        messages: [...(before.messages ?? []), { type: "human", content: text, id: `optimistic ${text}` }],
      }),
    },
  );
}

async function ask(shown, text) {
  await submit(shown, text);
  const isAnswered = () => texts(shown.current).includes(text) && texts(shown.current).at(-1) !== text;
  await until(() => isAnswered() && !shown.current.isLoading, `the answer to ${text}`);
}

async function use({ useStream }) {
  let threadId;
  const first = page(useStream, { onThreadId: (id) => (threadId = id) });
  await until(() => first.shown.current, "the page");
  await ask(first.shown, "first");
  await ask(first.shown, "second");
  await until(() => texts(first.shown.current).length === 4, "four messages");
  const asked = texts(first.shown.current);
  const ids = first.shown.current.messages.map((m) => m.id);
  first.close();

  const second = page(useStream, { threadId });
  await until(() => second.shown.current?.messages.length, "the history");
  const reopened = texts(second.shown.current);
  const edited = await branch(second.shown, 0, { messages: [{ type: "human", content: "edited" }] });
  const again = await branch(second.shown, 1, undefined);
  second.close();

  const rows = page(useStream, { threadId });
  await until(() => rows.shown.current?.messages.length, "the latest branch");
  const tallied = submit(rows.shown, "tally");
  const streamed = () => rows.shown.current.messages.slice(edited.length);
  await until(() => streamed().some((m) => m.type === "ai" && m.content), "the first words");
  const meanwhile = { before: texts(rows.shown.current).slice(0, edited.length), turn: streamed().map(brief) };
  await tallied;
  await until(() => !rows.shown.current.isLoading && textOf(streamed().at(-1)).startsWith("**Brazil** has the most customers: 2"), "the tally");
  const finished = streamed().map(brief);
  rows.close();

  const third = page(useStream, { threadId });
  await until(() => third.shown.current?.messages.length, "the latest branch");
  const held = submit(third.shown, "held");
  const isAsked = (m) => m.content === "held" && !m.id.startsWith("optimistic");
  await until(() => third.shown.current.messages.some(isAsked), "the question");
  await third.shown.current.stop();
  await held;
  await until(() => !third.shown.current.isLoading, "the stop");
  third.close();
  return { asked, reopened, edited, again, meanwhile, finished, threadId, optimistic: ids.filter((id) => id.startsWith("optimistic")) };
}

const results = [];
for (const hook of hooks) results.push(await use(hook));
console.log(JSON.stringify(results));
process.exit(0);
