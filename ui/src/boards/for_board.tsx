import { useEffect, useState } from "preact/hooks";
import { orSay } from "../shared/or_say";
import { readBoard } from "./boards_api";
import { boardTexts } from "./texts";

/** Names the board that the answer is asked for. */
export default function ForBoard({ boardId }: { boardId: string }) {
  const [title, setTitle] = useState("");
  useEffect(() => orSay(readBoard(boardId).then((board) => setTitle(board.title))), [boardId]);
  return (
    <p class="quiet for-board" role="status">
      {title && boardTexts.askedFor(title)}
    </p>
  );
}
