/** The routes of boards. Every function raises what `call` raises. */
import { call, type Page } from "../api/client";
import type { Board, BoardWithPins, Pin, Session } from "../api/types";

export interface PinChange {
  title?: string;
  message_id?: string;
  width?: number;
  height?: number;
  period_by?: string | null;
}

const pathOf = (boardId: string, pinId?: string) =>
  `boards/${encodeURIComponent(boardId)}${pinId === undefined ? "" : `/pins/${encodeURIComponent(pinId)}`}`;

/** All boards, last changed first. */
export async function listBoards(): Promise<Board[]> {
  const boards: Board[] = [];
  let after = "";
  do {
    const page = await call<Page<Board>>("GET", `boards?limit=100${after}`);
    boards.push(...page.items);
    after = page.next_cursor === null ? "" : `&cursor=${encodeURIComponent(page.next_cursor)}`;
  } while (after !== "");
  return boards;
}

export const createBoard = (title: string) => call<Board>("POST", "boards", { title });
export const readBoard = (boardId: string) => call<BoardWithPins>("GET", pathOf(boardId));
export const deleteBoard = (boardId: string) => call("DELETE", pathOf(boardId));
export const refreshBoard = (boardId: string) => call<BoardWithPins>("POST", `${pathOf(boardId)}/refresh`);

/** Changes a board, with a version only that one. */
export function changeBoard(
  boardId: string,
  change: { title?: string; order?: string[]; period_days?: number | null },
  version?: number,
): Promise<BoardWithPins> {
  return call("PATCH", pathOf(boardId), change, version);
}

export interface NewPin {
  message_id: string;
  title: string;
  width: number;
  height: number;
}

export function pinAnswer(boardId: string, pin: NewPin): Promise<Pin> {
  return call("POST", `${pathOf(boardId)}/pins`, pin);
}

export const readPin = (boardId: string, pinId: string) => call<Pin>("GET", pathOf(boardId, pinId));

/** Changes a pin, with a version only that one. */
export function changePin(boardId: string, pinId: string, change: PinChange, version?: number): Promise<Pin> {
  return call("PATCH", pathOf(boardId, pinId), change, version);
}

export const unpin = (boardId: string, pinId: string) => call("DELETE", pathOf(boardId, pinId));
export const refreshPin = (boardId: string, pinId: string) =>
  call<Pin>("POST", `${pathOf(boardId, pinId)}/refresh`);

/** A session in which the statement of a pin is corrected. Its metadata names the pin. */
export function createRepairSession(pin: Pin, title: string): Promise<Session> {
  const metadata = { repairs_board: pin.board_id, repairs_pin: pin.id };
  const body = { db_connection_id: pin.db_connection_id, title, metadata };
  return call("POST", "sessions", body);
}
