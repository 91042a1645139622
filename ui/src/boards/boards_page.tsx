import { CalendarClock, LayoutDashboard, Link2, Plus } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Board, Problem } from "../api/types";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/icon";
import { lazy } from "../shared/lazy";
import { Blank } from "../shared/blank";
import { ProblemBox } from "../shared/problem_box";
import { go, onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { moment } from "../shared/time";
import { createBoard, listBoards } from "./boards_api";
import { TitleForm } from "./title_form";
import { boardTexts } from "./texts";
import { useUnsent } from "../identity/unsent";
import "./boards.css";

const Notices = lazy(() => import("../schedules/notices"));

/** The boards of the reader, last changed first. */
export default function BoardsPage() {
  const [boards, setBoards] = useState<Board[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [adding, setAdding] = useUnsent("new board", false);
  const load = () => {
    setProblem(null);
    listBoards().then(setBoards, (error: unknown) => setProblem(asProblem(error)));
  };
  useEffect(() => {
    document.title = `${texts.boards.title} · ${texts.product}`;
    load();
  }, []);
  const add = async (title: string) => go(`/boards/${(await createBoard(title)).id}`);
  return (
    <div class="page">
      <header class="page-head">
        <div>
          <h1>{texts.boards.title}</h1>
          <p class="quiet">{boardTexts.lead}</p>
        </div>
        <div class="page-actions">
          <a class="button" href="/schedules" onClick={onLinkClick}>
            <Icon of={CalendarClock} /> {texts.boards.schedules}
          </a>
          <a class="button" href="/links" onClick={onLinkClick}>
            <Icon of={Link2} /> {texts.share.links}
          </a>
          <button type="button" class="button primary" onClick={() => setAdding(true)}>
            <Icon of={Plus} /> {boardTexts.add}
          </button>
        </div>
      </header>
      {problem && <ProblemBox problem={problem} onRetry={load} />}
      <Notices />
      {boards === null && !problem && <p class="quiet">{texts.loading} …</p>}
      {boards?.length === 0 && (
        <Blank title={boardTexts.none} steps={boardTexts.noneSteps}>
          <a class="button primary" href="/" onClick={onLinkClick}>
            {texts.sessions.start}
          </a>
        </Blank>
      )}
      <ul class="board-list">
        {boards?.map((each) => (
          <li key={each.id}>
            <a href={`/boards/${each.id}`} onClick={onLinkClick}>
              <Icon of={LayoutDashboard} size={18} />
              <strong>{each.title}</strong>
              <span class="quiet">{boardTexts.changed(moment(each.updated_at))}</span>
            </a>
          </li>
        ))}
      </ul>
      {adding && (
        <Dialog title={boardTexts.add} onClose={() => setAdding(false)}>
          <TitleForm
            form="new board title"
            title=""
            label={boardTexts.name}
            save={boardTexts.create}
            onSave={add}
          />
        </Dialog>
      )}
    </div>
  );
}
