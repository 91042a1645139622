/** The rows of an answer, or of a call: the head at once, the others from the server on request. */
import { signal } from "@preact/signals";
import { readRows, type RowsPlace } from "../../api/client";
import { asProblem } from "../../api/problem";
import type { Column, Cut, Problem, Row, RowsPage } from "../../api/types";
import type { Head } from "../model";

const FIRST_PAGE = 100;
const PAGE = 5_000;

export class AnswerRows {
  readonly columns: Column[];
  readonly count: number;
  readonly cutBy: Cut | null;
  readonly loaded = signal<Row[]>([]);
  readonly loading = signal(false);
  readonly problem = signal<Problem | null>(null);
  private readonly stored = signal<string | null>(null);
  /** Shows how a column was made. Null for rows without a provenance of their own. */
  explain: ((column: string) => void) | null = null;
  readonly canExport: boolean = true;
  private cursor: string | undefined;
  private fetched = 0;
  private underWay: Promise<void> | null = null;

  constructor(
    readonly sessionId: string,
    head: Head,
    /** The call that fetched the rows; without one they are those of the answer. */
    readonly resultId?: string,
    /** The version of the answer that they are of, from 2. */
    private readonly version?: number,
  ) {
    this.columns = head.columns;
    this.count = head.rowCount;
    this.cutBy = head.cutBy;
    this.loaded.value = head.rows;
  }

  /** Null until the run has ended; before that there is nothing to fetch. */
  get messageId(): string | null {
    return this.stored.value;
  }

  set messageId(id: string | null) {
    this.stored.value = id;
  }

  get place(): RowsPlace {
    return {
      session_id: this.sessionId,
      message_id: this.messageId ?? "",
      result_id: this.resultId,
      number: this.version,
    };
  }

  get complete(): boolean {
    return this.loaded.value.length >= this.count;
  }

  /** Loads at least `wanted` rows, or all. Raises nothing; `problem` holds the error. */
  async load(wanted: number): Promise<void> {
    if (this.messageId === null) return;
    while (this.underWay) await this.underWay;
    if (this.loaded.value.length >= Math.min(wanted, this.count)) return;
    this.underWay = this.loadPages(wanted);
    await this.underWay;
    this.underWay = null;
  }

  private async loadPages(wanted: number): Promise<void> {
    this.loading.value = true;
    this.problem.value = null;
    try {
      while (this.loaded.value.length < Math.min(wanted, this.count)) await this.loadPage(wanted);
    } catch (error) {
      this.problem.value = asProblem(error);
    }
    this.loading.value = false;
  }

  /** Every row, for a file. Raises what the API calls raise. */
  async all(): Promise<Row[]> {
    while (!this.complete) await this.loadPage(this.count);
    return this.loaded.value;
  }

  protected page(limit: number, cursor: string | undefined): Promise<RowsPage> {
    return readRows(this.place, limit, cursor);
  }

  /** Fetched rows replace the head, which may be shown already. */
  private async loadPage(wanted: number): Promise<void> {
    const limit = wanted <= FIRST_PAGE ? FIRST_PAGE : PAGE;
    const page = await this.page(limit, this.cursor);
    const rows = page.items as Row[];
    this.loaded.value = [...this.loaded.value.slice(0, this.fetched), ...rows];
    this.fetched += rows.length;
    this.cursor = page.next_cursor ?? undefined;
    if (page.next_cursor === null && this.fetched < this.count) throw new Error("the rows ended early");
  }
}
