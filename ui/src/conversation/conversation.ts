/** One open session: its contents, and the analyst's actions. */
import { computed, signal } from "@preact/signals";
import * as api from "../api/client";
import { ApiError, asProblem } from "../api/problem";
import { follow } from "../api/stream";
import type { Problem, Session } from "../api/types";
import { expectTitle, refreshSessions } from "../sessions/sessions";
import { onNews, tellTabs } from "../sessions/tabs";
import { exchangesOf } from "./history";
import { stepsOf } from "./investigation/reduce_calls";
import { type Exchange, isUnderWay, NOTHING } from "./model";
import { reduce } from "./reduce";

/** A question as it was sent; the key makes sending it twice harmless. */
interface Sent {
  key: string;
  question: string;
  sql?: string;
}

export class Conversation {
  readonly session = signal<Session | null>(null);
  readonly exchanges = signal<Exchange[]>([]);
  readonly problem = signal<Problem | null>(null);
  readonly link = signal<"live" | "reconnecting">("live");
  readonly earlier = signal<string | null>(null);
  /** A question the server refused because another one is being answered. */
  readonly refused = signal<Sent | null>(null);
  readonly running = computed(() => this.exchanges.value.find((each) => isUnderWay(each.answer)) ?? null);

  private unwanted: string | undefined;
  private readonly closed = new AbortController();
  private readonly followed = new Set<string>();
  private readonly forgetNews = onNews((id) => {
    if (id === null || id === this.sessionId) void this.load();
  });

  constructor(readonly sessionId: string) {}

  /** Leaves the session; its run continues on the server. */
  close(): void {
    this.closed.abort();
    this.forgetNews();
  }

  /** Reads the session and follows its current run, if any. */
  async load(): Promise<void> {
    try {
      const { messages, ...session } = await api.readSession(this.sessionId);
      if (this.closed.signal.aborted) return;
      this.session.value = session;
      this.problem.value = null;
      if (!this.exchanges.value.some((each) => each.kept)) this.earlier.value = messages.next_cursor;
      this.exchanges.value = withHistory(this.exchanges.value, exchangesOf(messages.items));
      if (!this.isSending()) for (const each of this.exchanges.value) this.join(each);
    } catch (error) {
      this.problem.value = asProblem(error);
    }
  }

  async loadEarlier(): Promise<void> {
    if (this.earlier.value === null) return;
    const { messages } = await api.readSession(this.sessionId, this.earlier.value);
    this.earlier.value = messages.next_cursor;
    this.exchanges.value = [...exchangesOf(messages.items), ...this.exchanges.value];
  }

  /** Asks now, or after the run that this page follows. The server refuses it during any other run. */
  ask(question: string, sql?: string): void {
    const onBusy = this.running.value ? "enqueue" : "reject";
    void this.send({ key: newKey(), question, ...(sql && { sql }) }, onBusy);
  }

  /** Asks the refused question again, after the current one or in its place. */
  insist(on_busy: "enqueue" | "interrupt"): void {
    const sent = this.refused.value;
    this.refused.value = null;
    if (sent) void this.send(sent, on_busy);
  }

  /** Sends a question again that did not reach the server. */
  resend(exchange: Exchange): void {
    this.drop(exchange.key);
    const { key, question, sql } = exchange;
    void this.send({ key, question, ...(sql && { sql }) }, "reject");
  }

  /** Whether this answer's suggestions can be asked: it is the latest, and the session is open. */
  goesOnFrom(exchange: Exchange): boolean {
    return this.exchanges.value.at(-1)?.key === exchange.key && this.session.value?.status !== "closed";
  }

  async resume(): Promise<void> {
    this.session.value = await api.resumeSession(this.sessionId);
  }

  /** Cancels the current run; a question that is still being sent is cancelled as soon as it has arrived. */
  async stop(): Promise<void> {
    const running = this.running.value;
    if (running?.answer.runId) await api.cancelRun(this.sessionId, running.answer.runId);
    else this.unwanted = running?.key;
  }

  /** Reads the steps of a stored answer. Raises what the API calls raise. */
  async readSteps({ key, answer }: Exchange): Promise<void> {
    const investigation = stepsOf(await api.readSteps(this.sessionId, answer.messageId ?? ""));
    this.change(key, (each) => ({ ...each, answer: { ...each.answer, investigation } }));
  }

  private async send(sent: Sent, on_busy: api.Asked["on_busy"]): Promise<void> {
    const { key, question, sql } = sent;
    const exchange: Exchange = { ...sent, askedAt: Date.now(), answer: NOTHING, kept: false };
    this.exchanges.value = [...this.exchanges.value, exchange];
    const body = { query: question, on_busy, ...(sql && { sql }) };
    const open = async () => {
      const response = await api.ask(this.sessionId, body, key, this.closed.signal);
      const runId = response.headers.get("X-Run-Id") ?? "";
      this.followed.add(runId);
      this.exchanges.value = this.exchanges.value.filter((each) => each.answer.runId !== runId);
      this.change(key, (each) => ({ ...each, answer: { ...each.answer, runId, phase: "running" } }));
      this.announce();
      if (this.unwanted === key) await api.cancelRun(this.sessionId, runId);
      return response;
    };
    try {
      await this.follow(key, open);
    } catch (error) {
      this.onUnsent(sent, error);
    }
  }

  /** Follows a run that another tab, or this page before a reload, has started. */
  private join(exchange: Exchange): void {
    const runId = exchange.answer.runId;
    if (exchange.kept || runId === null || this.followed.has(runId)) return;
    this.followed.add(runId);
    const open = () => api.followRun(this.sessionId, runId, 0, this.closed.signal);
    this.follow(exchange.key, open).catch((error: unknown) => this.fail(exchange.key, asProblem(error)));
  }

  private async follow(key: string, open: () => Promise<Response>): Promise<void> {
    await follow({
      open,
      resume: (runId, after) => api.followRun(this.sessionId, runId, after, this.closed.signal),
      onEvent: (event) => this.change(key, (each) => ({ ...each, answer: reduce(each.answer, event) })),
      onLink: (link) => {
        this.link.value = link;
      },
      signal: this.closed.signal,
    });
    this.announce();
    expectTitle();
  }

  private onUnsent(sent: Sent, error: unknown): void {
    if (this.closed.signal.aborted) return;
    const problem = asProblem(error);
    if (error instanceof ApiError && problem.type === "urn:kai:session-busy") {
      this.drop(sent.key);
      this.refused.value = sent;
      void this.load(); // to show what is being answered
    } else {
      this.fail(sent.key, problem);
    }
  }

  private fail(key: string, problem: Problem): void {
    this.change(key, (each) => ({
      ...each,
      answer: { ...each.answer, phase: "failed", problems: [problem] },
    }));
  }

  private change(key: string, how: (exchange: Exchange) => Exchange): void {
    this.exchanges.value = this.exchanges.value.map((each) => (each.key === key ? how(each) : each));
  }

  private drop(key: string): void {
    this.exchanges.value = this.exchanges.value.filter((each) => each.key !== key);
  }

  /** Whether a question is being sent whose run is not known yet; the history may hold it already. */
  private isSending(): boolean {
    return this.exchanges.value.some((each) => each.answer.phase === "sending" && !each.answer.runId);
  }

  private announce(): void {
    void refreshSessions();
    tellTabs(this.sessionId);
  }
}

/** Random enough for one analyst; `crypto.randomUUID` is missing where there is no TLS. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((each) => each.toString(16)).join("");
}

/**
 * The shown exchanges merged with the stored history, in order. Shown exchanges stay as they are, as they
 * may have more details; questions that are still being sent come last.
 */
function withHistory(shown: Exchange[], history: Exchange[]): Exchange[] {
  const known = new Map(shown.map((each) => [each.answer.runId, each]));
  const kept = new Set(history.map((each) => each.answer.runId));
  const earlier = shown.filter((each) => each.answer.runId !== null && !kept.has(each.answer.runId));
  const unsent = shown.filter((each) => each.answer.runId === null);
  return [...earlier, ...history.map((each) => known.get(each.answer.runId) ?? each), ...unsent];
}
