import {
  ArrowLeft,
  CalendarClock,
  Ellipsis,
  FileText,
  MessageSquarePlus,
  Pencil,
  RefreshCw,
  Share2,
  Trash2,
} from "lucide";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { BoardWithPins } from "../api/types";
import { connections, refreshConnections } from "../connections/connections";
import { busy } from "../shared/busy";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/icon";
import { lazy } from "../shared/lazy";
import { Menu } from "../shared/menu";
import { orSay } from "../shared/or_say";
import { ProblemBox } from "../shared/problem_box";
import { Unread } from "../shared/unread";
import { go, onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { say } from "../shared/toasts";
import { OpenBoard } from "./board";
import { deleteBoard } from "./boards_api";
import { COLUMNS, filled } from "./grid";
import { LENGTHS } from "./period";
import { boardTexts, periodTexts } from "./texts";
import { Comments } from "../comments/lazy_comments";
import { rowsOf } from "./when";
import { Tile } from "./tile";
import { TitleForm } from "./title_form";
import "../connections/connections.css";
import { useUnsent } from "../identity/unsent";
import "./boards.css";

const ScheduleDialog = lazy(() => import("../schedules/schedule_dialog"));
const ReportDialog = lazy(() => import("../reports/report_dialog"));
const LinkDialog = lazy(() => import("../sharing/link_dialog"));

/** A board: its pins in a grid of twelve columns, one below the other on a phone. */
export default function BoardPage({ boardId }: { boardId: string }) {
  const open = useBoard(boardId);
  const board = open.board.value;
  const title = board?.title;
  useEffect(() => {
    document.title = `${title ?? texts.boards.title} · ${texts.product}`;
  }, [title]);
  const problem = open.problem.value;
  if (problem && board === null) return <Unread problem={problem} onRetry={() => void open.load()} />;
  return (
    <div class="page board-page">
      <a class="back" href="/boards" onClick={onLinkClick}>
        <Icon of={ArrowLeft} size={15} /> {texts.boards.title}
      </a>
      {problem && <ProblemBox problem={problem} onRetry={() => void open.load()} />}
      {board === null && <p class="quiet">{texts.loading} …</p>}
      {board && <Head board={board} open={open} />}
      {board?.pins.length === 0 && <Nothing />}
      {board && board.pins.length > 0 && <Grid board={board} open={open} />}
      {board && <Comments thing={{ kind: "board", thingId: board.id }} />}
    </div>
  );
}

function useBoard(boardId: string): OpenBoard {
  const open = useMemo(() => new OpenBoard(boardId), [boardId]);
  useEffect(() => {
    void open.load();
    if (connections.value === null) void refreshConnections();
    return () => open.close();
  }, [open]);
  return open;
}

interface Shown {
  board: BoardWithPins;
  open: OpenBoard;
}

function Head({ board, open }: Shown) {
  const [renaming, rename] = useUnsent(`board ${board.id}`, false);
  const [sharing, share] = useState(false);
  const [scheduling, schedule] = useState(false);
  const [reporting, report] = useState(false);
  const running = board.pins.filter((each) => each.state === "running").length;
  const remove = async () => {
    await deleteBoard(board.id);
    go("/boards");
    say(boardTexts.deleted(board.title));
  };
  const items = [
    { icon: Pencil, label: boardTexts.rename, onSelect: () => rename(true) },
    { icon: CalendarClock, label: boardTexts.schedule, onSelect: () => schedule(true) },
    { icon: FileText, label: texts.reports.make, onSelect: () => report(true) },
    { icon: Share2, label: texts.share.board, onSelect: () => share(true) },
    {
      icon: Trash2,
      label: boardTexts.delete,
      onSelect: () => confirm(boardTexts.sure) && orSay(remove()),
    },
  ];
  return (
    <header class="page-head">
      <div>
        <h1>{board.title}</h1>
        <p class="quiet" role="status">
          {running > 0 ? boardTexts.running(running) : rowsOf(board.pins)}
        </p>
      </div>
      <div class="page-actions">
        <a class="button" href={`/#board=${board.id}`} onClick={onLinkClick}>
          <Icon of={MessageSquarePlus} /> {boardTexts.ask}
        </a>
        {board.pins.length > 0 && <Period board={board} open={open} />}
        {board.pins.length > 0 && (
          <button
            type="button"
            class="button"
            {...busy(running === board.pins.length, () => orSay(open.refresh()))}
          >
            <Icon of={RefreshCw} /> {boardTexts.refresh}
          </button>
        )}
        <Menu icon={Ellipsis} label={boardTexts.more(board.title)} items={items} />
      </div>
      {sharing && (
        <LinkDialog kind="board" thingId={board.id} database={undefined} onClose={() => share(false)} />
      )}
      {reporting && <ReportDialog of={{ board }} onClose={() => report(false)} />}
      {scheduling && (
        <ScheduleDialog
          title={boardTexts.scheduleOf(board.title)}
          boardId={board.id}
          pin={null}
          onClose={() => schedule(false)}
        />
      )}
      {renaming && (
        <Dialog title={boardTexts.rename} onClose={() => rename(false)}>
          <TitleForm
            form={`board ${board.id} title`}
            title={board.title}
            version={board.version}
            label={boardTexts.name}
            save={boardTexts.save}
            onSave={(title, version) => open.rename(title, version).then(() => rename(false))}
          />
        </Dialog>
      )}
    </header>
  );
}

function Period({ board, open }: Shown) {
  const days = board.period_days;
  const lengths = days === null || LENGTHS.includes(days) ? LENGTHS : [...LENGTHS, days];
  const choose = (value: string) => orSay(open.setPeriod(value === "" ? null : Number(value)));
  return (
    <label class="period">
      {periodTexts.name}
      <select value={days ?? ""} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{periodTexts.all}</option>
        {lengths.map((each) => (
          <option key={each} value={each}>
            {periodTexts.last(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Nothing() {
  return (
    <div class="board-empty">
      <strong>{boardTexts.empty}</strong>
      <p class="quiet">{boardTexts.emptyLead}</p>
    </div>
  );
}

function Grid({ board, open }: Shown) {
  const grid = useRef<HTMLDivElement>(null);
  const [spoken, speak] = useState("");
  const columns = filled(board.pins);
  const boxes = () => [...(grid.current?.children ?? [])].map((each) => each.getBoundingClientRect());
  return (
    <>
      <div class="board-grid" ref={grid}>
        {board.pins.map((pin, index) => (
          <Tile
            key={pin.id}
            pin={pin}
            place={index}
            filled={columns[index] ?? COLUMNS}
            open={open}
            boxes={boxes}
            speak={speak}
          />
        ))}
      </div>
      <p class="visually-hidden" role="status">
        {spoken}
      </p>
    </>
  );
}
