import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Board, Problem, Session } from "../api/types";
import { Dialog } from "../shared/dialog";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { say } from "../shared/toasts";
import { changePin, createBoard, listBoards, pinAnswer, unpin } from "./boards_api";
import { boardTexts } from "./texts";
import { useUnsent } from "../identity/unsent";

const NEW = "";
const LONGEST = 200;

interface Shown {
  messageId: string;
  question: string;
  size: { width: number; height: number };
  session: Session | null;
  onClose: () => void;
}

/** Asks for the board of a pin, and its title. In a session that repairs a pin, offers to replace that one. */
export default function PinDialog({ messageId, question, size, session, onClose }: Shown) {
  const [boards, setBoards] = useState<Board[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [chosen, choose] = useState(NEW);
  const [name, setName] = useUnsent<string>(`pin ${messageId} board`, boardTexts.firstName);
  const [title, setTitle] = useUnsent(`pin ${messageId} title`, question.slice(0, LONGEST));
  const broken = repairedBy(session);
  const failed = (error: unknown) => setProblem(asProblem(error));
  useEffect(() => {
    const found = (all: Board[]) => {
      setBoards(all);
      const wanted = session?.metadata.pins_to_board;
      choose((all.find((each) => each.id === wanted) ?? all[0])?.id ?? NEW);
    };
    listBoards().then(found, failed);
  }, []);
  const pin = async () => {
    const board = chosen === NEW ? (await createBoard(name.trim())).id : chosen;
    const made = await pinAnswer(board, { message_id: messageId, title: title.trim(), ...size });
    const shown = boards?.find((each) => each.id === board)?.title ?? name;
    say(boardTexts.pinned(shown), () => void unpin(board, made.id));
    onClose();
  };
  const replace = async ({ board, pin: pinId }: Repaired) => {
    const changed = await changePin(board, pinId, { message_id: messageId });
    say(boardTexts.replaced(changed.title));
    onClose();
  };
  const submit = (event: Event) => {
    event.preventDefault();
    setProblem(null);
    pin().catch(failed);
  };
  return (
    <Dialog title={texts.boards.pin} onClose={onClose}>
      <form class="form" onSubmit={submit}>
        {broken && (
          <div class="pin-replace">
            <p>{boardTexts.replaceLead}</p>
            <button type="button" class="button primary" onClick={() => void replace(broken).catch(failed)}>
              {boardTexts.replace}
            </button>
          </div>
        )}
        <label>
          {boardTexts.one}
          <select
            value={chosen}
            disabled={boards === null}
            onChange={(event) => choose(event.currentTarget.value)}
          >
            {boards?.map((each) => (
              <option key={each.id} value={each.id}>
                {each.title}
              </option>
            ))}
            <option value={NEW}>{boardTexts.add}</option>
          </select>
        </label>
        {boards !== null && chosen === NEW && (
          <label>
            {boardTexts.name}
            <input
              required
              maxLength={LONGEST}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
        )}
        <label>
          {boardTexts.pinTitle}
          <input
            required
            maxLength={LONGEST}
            value={title}
            onInput={(event) => setTitle(event.currentTarget.value)}
          />
        </label>
        {problem && <ProblemBox problem={problem} />}
        <button type="submit" class={broken ? "button" : "button primary"} disabled={boards === null}>
          {boardTexts.pinIt}
        </button>
      </form>
    </Dialog>
  );
}

interface Repaired {
  board: string;
  pin: string;
}

/** The pin that a session was opened to repair. */
function repairedBy(session: Session | null): Repaired | null {
  const { repairs_board: board, repairs_pin: pin } = session?.metadata ?? {};
  return typeof board === "string" && typeof pin === "string" ? { board, pin } : null;
}
