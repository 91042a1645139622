/** One open session: its contents, and the analyst's actions. */
import { computed, signal } from "@preact/signals";
import * as api from "../api/client";
import { ApiError, asProblem } from "../api/problem";
import { follow } from "../api/stream";
import type { ChartChoice, Problem, Session } from "../api/types";
import { usualConnection } from "../connections/connections";
import { expectTitle, refreshSessions } from "../sessions/sessions";
import { onNews, tellTabs } from "../sessions/tabs";
import { exchangesOf, withHistory } from "./history";
import { stepOfWaiting, stepsOf, withDecision } from "./investigation/reduce_calls";
import { type Exchange, isUnderWay, NOTHING, type ToolCall, waitsForDecision } from "./model";
import { reduce } from "./reduce";
import { keptUntil } from "../identity/unsent";

/** A question as it was sent; the key makes sending it twice harmless. */
interface Sent {
  key: string;
  question: string;
  sql?: string;
  about?: api.About;
}

export class Conversation {
  readonly session = signal<Session | null>(null);
  readonly exchanges = signal<Exchange[]>([]);
  readonly problem = signal<Problem | null>(null);
  readonly link = signal<"live" | "reconnecting">("live");
  readonly earlier = signal<string | null>(null);
  /** The key of the exchange that the address names by one of its messages. */
  readonly sought = signal<string | null>(null);
  /** The number of the exchange at the top of what is seen, among those that are loaded. */
  readonly at = signal(0);
  /** A question the server refused because another one is being answered. */
  readonly refused = signal<Sent | null>(null);
  readonly running = computed(() => this.exchanges.value.find((each) => isUnderWay(each.answer)) ?? null);

  readonly isClosed = computed(() => this.session.value?.status === "closed");

  private unwanted: string | undefined;
  private readonly closed = new AbortController();
  private readonly followed = new Set<string>();
  /** The latest stream of each exchange, by its key. They settle when it has ended. */
  private readonly streams = new Map<string, Promise<void>>();
  /** Settles when the server has answered the last question that was sent. */
  private taken: Promise<unknown> = Promise.resolve();
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
      if (session.status === "processing") this.joinAfterApproval(session.active_run_id);
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

  /** Shows the exchange of a message. Returns whether it is there. */
  async seek(messageId: string): Promise<boolean> {
    this.sought.value = null;
    await new Promise((shown) => setTimeout(shown)); // the same exchange may be sought again
    const found = await this.find(messageId);
    this.sought.value = found?.key ?? null;
    return found !== null;
  }

  /** Finds the exchange of a message, in as much of the history as it takes. */
  async find(messageId: string): Promise<Exchange | null> {
    const isOf = ({ answer, questionId }: Exchange) =>
      answer.messageId === messageId || questionId === messageId;
    while (!this.closed.signal.aborted) {
      const found = this.exchanges.value.find(isOf);
      if (found || this.earlier.value === null) return found ?? null;
      await this.loadEarlier();
    }
    return null;
  }

  /**
   * Asks now, or after the run that this page follows. The server refuses it during any other run, and while a
   * call waits for a decision: the analyst says then what to do.
   */
  ask(question: string, sql?: string, about?: api.About): void {
    const run = this.running.value;
    const onBusy = run !== null && !waitsForDecision(run.answer) ? "enqueue" : "reject";
    void this.send({ key: newKey(), question, ...(sql && { sql }), ...(about && { about }) }, onBusy);
  }

  /** Asks the refused question again, after the current one or in its place. */
  insist(multitask_strategy: "enqueue" | "interrupt"): void {
    const sent = this.refused.value;
    this.refused.value = null;
    if (sent) void this.send(sent, multitask_strategy);
  }

  /** Sends a question again that did not reach the server. */
  resend(exchange: Exchange): void {
    this.drop(exchange.key);
    const { key, question, sql, about } = exchange;
    void this.send({ key, question, ...(sql && { sql }), ...(about && { about }) }, "reject");
  }

  /** Whether this answer's suggestions can be asked: it is the latest, and the session is open. */
  goesOnFrom(exchange: Exchange): boolean {
    return this.exchanges.value.at(-1)?.key === exchange.key && this.session.value?.status !== "closed";
  }

  /** Runs another statement for an answer, which keeps it. Raises what the API call raises. */
  async addVersion({ key, answer }: Exchange, sql: string): Promise<void> {
    const version = await api.addVersion(this.sessionId, answer.messageId ?? "", sql);
    this.change(key, (each) => {
      const versions = [...each.answer.versions, version];
      return { ...each, answer: { ...each.answer, versions } };
    });
  }

  /**
   * Draws the chart of a stored answer as the analyst chose; null goes back to the proposed one. Throws if the
   * rows do not allow it, and nothing is changed then.
   */
  async chooseChart({ key, answer }: Exchange, chart_choice: ChartChoice | null): Promise<void> {
    const message = await api.changeMessage(this.sessionId, answer.messageId ?? "", { chart_choice });
    const { chart_choice: kept, chosen_chart, chart_refusal } = message;
    const chosen = { chart_choice: kept, chosen_chart, chart_refusal };
    this.change(key, (each) => ({ ...each, answer: { ...each.answer, ...chosen } }));
  }

  /** Takes back a question that waits behind another. */
  async withdrawQuestion({ answer }: Exchange): Promise<void> {
    if (answer.runId !== null) await api.cancelRun(this.sessionId, answer.runId);
  }

  async resume(): Promise<void> {
    this.session.value = await api.resumeSession(this.sessionId);
    this.announce();
  }

  /** Cancels the current run; a question that is still being sent is cancelled as soon as it has arrived. */
  async stop(): Promise<void> {
    const running = this.running.value;
    if (running?.answer.runId) await api.cancelRun(this.sessionId, running.answer.runId);
    else this.unwanted = running?.key;
  }

  /** Sets the mode of the next questions. Raises what the API calls raise. */
  async setMode(mode: Session["mode"]): Promise<void> {
    this.session.value = await api.setMode(this.sessionId, mode);
  }

  /**
   * Approves, with other arguments if they are given, or denies a call that waits; the last decision goes on with the answer. Raises what the API calls
   * raise: then the decision that was made elsewhere, or the end of the turn, is shown.
   */
  async decide(exchange: Exchange, call: ToolCall, decided: Omit<api.Decision, "call_hash">): Promise<void> {
    if (call.confirmation === null) return;
    const body = { ...decided, call_hash: call.confirmation.callHash };
    try {
      const runId = await api.decideCall(this.sessionId, call.id, body);
      const outcome = body.decision === "deny" ? "denied" : "approved";
      const edited = body.arguments ?? null;
      this.change(exchange.key, (each) => ({
        ...each,
        answer: withDecision(each.answer, call.id, outcome, edited),
      }));
      if (runId !== null) void this.goOn(exchange, runId);
    } catch (error) {
      await this.readSteps(exchange);
      await this.load();
      throw error;
    }
  }

  /** Withdraws the calls that wait, which ends the answer. Raises what the API calls raise. */
  async withdraw({ answer }: Exchange): Promise<void> {
    if (answer.runId !== null) await api.cancelRun(this.sessionId, answer.runId);
    await this.load();
    this.announce();
  }

  /** Reads the steps of a stored answer, with the calls that wait. Raises what the API calls raise. */
  async readSteps({ key, answer }: Exchange): Promise<void> {
    const waits = answer.phase === "awaiting_approval";
    const [steps, waiting] = await Promise.all([
      api.readSteps(this.sessionId, answer.messageId ?? "").catch((error: unknown) => {
        if (waits && asProblem(error).status === 404) return null;
        throw error;
      }),
      waits ? api.readConfirmations(this.sessionId) : [],
    ]);
    const investigation = steps === null ? [stepOfWaiting(waiting)] : stepsOf(steps, waiting);
    this.change(key, (each) => ({ ...each, answer: { ...each.answer, investigation } }));
  }

  private async send(sent: Sent, multitask_strategy: api.Asked["multitask_strategy"]): Promise<void> {
    const { key, question, sql, about } = sent;
    const exchange: Exchange = { ...sent, askedAt: Date.now(), answer: NOTHING, kept: false };
    this.exchanges.value = [...this.exchanges.value, exchange];
    const database = this.missingDatabase();
    const body = {
      query: question,
      multitask_strategy,
      ...(sql && { sql }),
      ...(about && proposed(about)),
      ...(database && { db_connection_id: database }),
    };
    // One after the other: on its way a question may overtake the one that was asked before it.
    const taken = this.taken.then(() => api.ask(this.sessionId, body, key, this.closed.signal));
    const asked = keptUntil(taken, this.sessionId, question);
    this.taken = asked.catch(() => undefined);
    const open = async () => {
      const response = await asked;
      const runId = response.headers.get("X-Run-Id") ?? "";
      this.followed.add(runId);
      if (database && this.session.value)
        this.session.value = { ...this.session.value, db_connection_id: database };
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

  /** The database that a question names where the session has none yet: a client of a protocol made it so. */
  private missingDatabase(): string | undefined {
    return this.session.value?.db_connection_id === null ? usualConnection()?.id : undefined;
  }

  /** Follows a run that another tab, or this page before a reload, has started. */
  private join(exchange: Exchange): void {
    const runId = exchange.answer.runId;
    if (exchange.kept || runId === null || this.followed.has(runId)) return;
    this.followed.add(runId);
    const open = () => api.followRun(this.sessionId, runId, 0, this.closed.signal);
    this.follow(exchange.key, open).catch((error: unknown) => this.fail(exchange.key, asProblem(error)));
  }

  /** Follows the run that goes on with an answer, if its calls were decided elsewhere. */
  private joinAfterApproval(runId: string | null): void {
    const waited = this.exchanges.value.find((each) => each.answer.phase === "awaiting_approval");
    if (waited && runId !== null && runId !== waited.answer.runId) void this.goOn(waited, runId);
  }

  /** Follows the run that goes on with an answer whose calls are decided: its events continue the answer. */
  private async goOn(exchange: Exchange, runId: string): Promise<void> {
    if (this.followed.has(runId)) return;
    this.followed.add(runId);
    try {
      await this.streams.get(exchange.key); // the end of the run before would end this one on the page
      if (exchange.answer.investigation === null) await this.readSteps(exchange);
      this.change(exchange.key, (each) => ({ ...each, answer: { ...each.answer, runId, phase: "running" } }));
      await this.follow(exchange.key, () => api.followRun(this.sessionId, runId, 0, this.closed.signal));
    } catch (error) {
      this.fail(exchange.key, asProblem(error));
    }
  }

  private async follow(key: string, open: () => Promise<Response>): Promise<void> {
    const stream = follow({
      open,
      resume: (runId, after) => api.followRun(this.sessionId, runId, after, this.closed.signal),
      onEvent: (event) => this.change(key, (each) => ({ ...each, answer: reduce(each.answer, event) })),
      onLink: (link) => {
        this.link.value = link;
      },
      signal: this.closed.signal,
    });
    this.streams.set(
      key,
      stream.catch(() => undefined),
    );
    await stream;
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

/** What the page proposes is asked in ask mode, also where the session is in agent mode. */
const proposed = (about: api.About) => ({ about, mode: "ask" as const });

/** Random enough for one analyst; `crypto.randomUUID` is missing where there is no TLS. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((each) => each.toString(16)).join("");
}
