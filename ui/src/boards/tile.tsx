import {
  CalendarClock,
  CalendarRange,
  Ellipsis,
  ExternalLink,
  GripVertical,
  Pencil,
  RefreshCw,
  Terminal,
  Trash2,
} from "lucide";
import { useRef, useState } from "preact/hooks";
import type { Pin } from "../api/types";
import { connectionOf } from "../connections/connections";
import { bytes } from "../shared/bytes";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/icon";
import { lazy } from "../shared/lazy";
import { Menu } from "../shared/menu";
import { orSay } from "../shared/or_say";
import { go } from "../shared/route";
import { texts } from "../shared/texts";
import { count, duration } from "../shared/time";
import type { OpenBoard } from "./board";
import { COLUMNS, placeAt, placeFor, type Box } from "./grid";
import { daysOf } from "./period";
import { Said } from "./said";
import { Shows } from "./shows";
import { TitleForm } from "./title_form";
import { boardTexts, periodTexts } from "./texts";
import { shortly } from "./when";

const ScheduleDialog = lazy(() => import("../schedules/schedule_dialog"));
const PeriodDialog = lazy(() => import("./period_dialog"));
const VerifiedMark = lazy(() => import("../provenance/verified_mark"));
const SqlText = lazy(() => import("../shared/sql_text").then(({ SqlText: found }) => ({ default: found })));

interface Shown {
  pin: Pin;
  /** Its place in the order, from 0. */
  place: number;
  /** Columns that it takes on a screen of middle width. */
  filled: number;
  open: OpenBoard;
  boxes: () => Box[];
  speak: (words: string) => void;
}

/** A pin on its board: what its rows show, how old they are, and what is wrong with them. */
export function Tile(shown: Shown) {
  const { pin, open, filled } = shown;
  const [dialog, show] = useState<"rename" | "schedule" | "sql" | "period" | null>(null);
  const items = [
    { icon: RefreshCw, label: boardTexts.refreshOne, onSelect: () => orSay(open.refreshPin(pin)) },
    { icon: CalendarClock, label: boardTexts.schedule, onSelect: () => show("schedule") },
    {
      icon: ExternalLink,
      label: boardTexts.openAnswer,
      onSelect: () => go(`/sessions/${pin.session_id}#${pin.message_id}`),
    },
    ...(pin.period ? [{ icon: CalendarRange, label: periodTexts.name, onSelect: () => show("period") }] : []),
    { icon: Terminal, label: boardTexts.sql, onSelect: () => show("sql") },
    { icon: Pencil, label: boardTexts.rename, onSelect: () => show("rename") },
    { icon: Trash2, label: boardTexts.remove, onSelect: () => orSay(open.unpin(pin)) },
  ];
  return (
    <article
      class="tile"
      data-state={pin.state}
      style={{ "--width": pin.width, "--height": pin.height, "--filled": filled }}
      aria-busy={pin.state === "running"}
    >
      <header>
        <Handle {...shown} />
        <h2 title={pin.question}>{pin.title}</h2>
        <Menu icon={Ellipsis} label={boardTexts.more(pin.title)} items={items} />
      </header>
      <Said pin={pin} />
      <Shows pin={pin} />
      <footer class="quiet">
        {pin.period?.reason && (
          <>
            <button type="button" class="link" onClick={() => show("period")}>
              {periodTexts.none}
            </button>
            {" · "}
          </>
        )}
        {footOf(pin)} <VerifiedMark connectionId={pin.db_connection_id} sql={pin.sql} short={true} />
      </footer>
      <Corner {...shown} />
      {dialog === "rename" && (
        <Dialog title={boardTexts.rename} onClose={() => show(null)}>
          <TitleForm
            form={`pin ${pin.id} title`}
            title={pin.title}
            version={pin.version}
            label={boardTexts.pinTitle}
            save={boardTexts.save}
            onSave={(title, version) => open.renamePin(pin.id, title, version).then(() => show(null))}
          />
        </Dialog>
      )}
      {dialog === "schedule" && (
        <ScheduleDialog
          title={boardTexts.scheduleOf(pin.title)}
          boardId={pin.board_id}
          pin={pin}
          onClose={() => show(null)}
        />
      )}
      {dialog === "period" && <PeriodDialog pin={pin} open={open} onClose={() => show(null)} />}
      {dialog === "sql" && (
        <Dialog title={pin.question} onClose={() => show(null)}>
          <SqlText sql={pin.period?.sql ?? pin.sql} />
        </Dialog>
      )}
    </article>
  );
}

function footOf(pin: Pin): string {
  const parts = [daysOf(pin) || connectionOf(pin.db_connection_id)?.name];
  if (pin.row_count !== null && pin.row_count > 1) parts.push(boardTexts.rows(count(pin.row_count)));
  if (pin.truncated) parts.push(boardTexts.cut);
  if (pin.ran_at) parts.push(shortly(pin.ran_at));
  if (pin.database_ms) parts.push(duration(pin.database_ms));
  if (pin.bytes_read !== null) parts.push(texts.answer.read(bytes(pin.bytes_read)));
  return parts.filter(Boolean).join(" · ");
}

const ARROWS: Record<string, [width: number, height: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Moves a tile: by dragging, or by arrow keys, which resize it with Shift. */
function Handle({ pin, place, open, boxes, speak }: Shown) {
  const [dragging, drag] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const onKeyDown = async (event: KeyboardEvent) => {
    const by = ARROWS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    if (event.shiftKey) {
      const size = await open.resize(pin, { width: pin.width + by[0], height: pin.height + by[1] });
      speak(boardTexts.resized(size.width, size.height));
    } else {
      const to = placeFor(event.key, place, boxes());
      if (to !== place) speak(boardTexts.moved(await open.move(pin, to), boxes().length));
    }
    button.current?.focus();
  };
  const onPointerDown = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    drag(true);
  };
  const onPointerUp = (event: PointerEvent) => {
    if (!dragging) return;
    drag(false);
    const to = placeAt(event.clientX, event.clientY, boxes());
    if (to !== null && to !== place) orSay(open.move(pin, to));
  };
  const label = boardTexts.handle(pin.title);
  return (
    <button
      ref={button}
      type="button"
      class="icon-button handle"
      aria-label={label}
      title={boardTexts.handleHint}
      aria-pressed={dragging}
      onKeyDown={(event) => void onKeyDown(event)}
      onPointerDown={onPointerDown}
      onPointerUp={onPointerUp}
      onPointerCancel={() => drag(false)}
    >
      <Icon of={GripVertical} size={15} />
    </button>
  );
}

/** Resizes a tile by dragging its corner. The keys of the handle do the same. */
function Corner({ pin, open }: Shown) {
  const begun = useRef<{ x: number; y: number; column: number; row: number } | null>(null);
  const onPointerDown = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const tile = event.currentTarget.parentElement?.getBoundingClientRect();
    if (!tile) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const column = tile.width / Math.min(pin.width, COLUMNS);
    begun.current = { x: event.clientX, y: event.clientY, column, row: tile.height / pin.height };
  };
  const onPointerUp = (event: PointerEvent) => {
    const from = begun.current;
    begun.current = null;
    if (from === null) return;
    const width = pin.width + Math.round((event.clientX - from.x) / from.column);
    const height = pin.height + Math.round((event.clientY - from.y) / from.row);
    orSay(open.resize(pin, { width, height }));
  };
  return (
    <span
      class="corner"
      aria-hidden="true"
      onPointerDown={onPointerDown}
      onPointerUp={onPointerUp}
      onPointerCancel={() => (begun.current = null)}
    />
  );
}
