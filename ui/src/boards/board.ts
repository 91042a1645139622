/** One open board: its pins, and what the analyst does with them. */
import { signal } from "@preact/signals";
import { asProblem } from "../api/problem";
import type { BoardWithPins, Pin, Problem } from "../api/types";
import { saveEdit } from "../shared/edits";
import { say } from "../shared/toasts";
import * as api from "./boards_api";
import { COLUMNS, MAX_HEIGHT, MIN_WIDTH, moved } from "./grid";
import { boardTexts } from "./texts";

const LOOK_AGAIN_MS = 1_000;

export interface Size {
  width: number;
  height: number;
}

export class OpenBoard {
  readonly board = signal<BoardWithPins | null>(null);
  readonly problem = signal<Problem | null>(null);
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;
  /** Moves and sizes that are shown and on their way to the server, and how many have ended. */
  private changing = 0;
  private changed = 0;

  constructor(readonly boardId: string) {}

  /** Stops looking. Refreshes continue on the server. */
  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  async load(): Promise<void> {
    this.problem.value = null;
    const before = this.changed;
    try {
      const board = await api.readBoard(this.boardId);
      // One that was read before a change would put the tile back.
      if (this.changing === 0 && this.changed === before) this.show(board);
      else this.lookAgain();
    } catch (error) {
      this.problem.value = asProblem(error);
    }
  }

  async refresh(): Promise<void> {
    this.show(await api.refreshBoard(this.boardId));
  }

  async refreshPin(pin: Pin): Promise<void> {
    this.put(await api.refreshPin(this.boardId, pin.id));
    this.lookAgain();
  }

  /** Renames the board of a version. If another edit came first, the reader chooses. */
  async rename(title: string, version: number): Promise<void> {
    await saveEdit({
      version,
      send: (version) => api.changeBoard(this.boardId, { title }, version),
      read: () => api.readBoard(this.boardId),
      beside: (theirs) => [{ name: boardTexts.name, mine: title, theirs: theirs.title }],
    });
    await this.load();
  }

  /** Restricts what takes a period to the last days, null to none, and runs the statements for it. */
  async setPeriod(days: number | null): Promise<void> {
    await api.changeBoard(this.boardId, { period_days: days });
    await this.refresh();
  }

  /** Restricts a pin by one of its dates, null by what its statement tells, and runs it for that. */
  async restrictBy(pin: Pin, column: string | null): Promise<void> {
    await api.changePin(this.boardId, pin.id, { period_by: column });
    await this.refreshPin(pin);
  }

  /** Renames a pin of a version. If another edit came first, the reader chooses. */
  async renamePin(id: string, title: string, version: number): Promise<void> {
    await saveEdit({
      version,
      send: (version) => api.changePin(this.boardId, id, { title }, version),
      read: () => api.readPin(this.boardId, id),
      beside: (theirs) => [{ name: boardTexts.pinTitle, mine: title, theirs: theirs.title }],
    });
    await this.load();
  }

  /** Moves a pin to a place among the others, on the page at once. Returns its place, counted from 1. */
  async move(pin: Pin, to: number): Promise<number> {
    const board = this.board.value;
    if (board === null) return 0;
    const pins = moved(
      board.pins,
      board.pins.findIndex((each) => each.id === pin.id),
      to,
    );
    this.board.value = { ...board, pins };
    const order = pins.map((each) => each.id);
    await this.orBack(api.changeBoard(this.boardId, { order }));
    return order.indexOf(pin.id) + 1;
  }

  /** Gives a pin another size, as far as the grid allows, on the page at once. Returns the size. */
  async resize(pin: Pin, wanted: Size): Promise<Size> {
    const size = {
      width: Math.min(COLUMNS, Math.max(MIN_WIDTH, wanted.width)),
      height: Math.min(MAX_HEIGHT, Math.max(1, wanted.height)),
    };
    if (size.width === pin.width && size.height === pin.height) return size;
    this.put({ ...pin, ...size });
    await this.orBack(api.changePin(this.boardId, pin.id, size));
    return size;
  }

  async unpin(pin: Pin): Promise<void> {
    await api.unpin(this.boardId, pin.id);
    const board = this.board.value;
    if (board) this.board.value = { ...board, pins: board.pins.filter((each) => each.id !== pin.id) };
    say(boardTexts.removed(pin.title));
  }

  private async orBack(done: Promise<unknown>): Promise<void> {
    this.changing += 1;
    const error: unknown = await done.then(
      () => null,
      (reason: unknown) => reason,
    );
    this.changing -= 1;
    this.changed += 1;
    if (error === null) return;
    say(asProblem(error).detail);
    await this.load();
  }

  private show(board: BoardWithPins): void {
    if (this.closed) return;
    this.board.value = board;
    this.lookAgain();
  }

  private put(pin: Pin): void {
    const board = this.board.value;
    if (board === null) return;
    const pins = board.pins.map((each) => (each.id === pin.id ? pin : each));
    this.board.value = { ...board, pins };
  }

  /** Reads the board again as long as a statement runs. */
  private lookAgain(): void {
    clearTimeout(this.timer);
    const runs = this.board.value?.pins.some((each) => each.state === "running");
    if (runs && !this.closed) this.timer = setTimeout(() => void this.load(), LOOK_AGAIN_MS);
  }
}
