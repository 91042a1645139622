import { useEffect, useState } from "preact/hooks";
import { makeReport, readSession } from "../api/client";
import { asProblem } from "../api/problem";
import type { BoardWithPins, NewReport, Problem, Session } from "../api/types";
import { busy } from "../shared/busy";
import { Dialog } from "../shared/dialog";
import { download, fileName } from "../shared/files";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { readerZone } from "../shared/time";
import { reports } from "./texts";
import "./reports.css";

type Format = NonNullable<NewReport["format"]>;
type Part = { id: string; name: string; shown: boolean; heading: string; before: string };

interface Shown {
  /** What the report is of: answers of a session, or pins of a board. */
  of: { session: Session } | { board: BoardWithPins };
  onClose: () => void;
}

const PAGE = 40;
const ENDINGS: Record<Format, string> = { html: "html", markdown: "md", ipynb: "ipynb" };

/** Chooses answers or pins, with headings and own text before them, and downloads them as one file. */
export default function ReportDialog({ of, onClose }: Shown) {
  const session = "session" in of ? of.session : null;
  const board = "board" in of ? of.board : null;
  const [parts, setParts] = useState<Part[] | null>(
    board && board.pins.map((pin) => partOf(pin.id, pin.title)),
  );
  const [older, setOlder] = useState<string | null>(null);
  const [title, setTitle] = useState(board?.title ?? session?.title ?? texts.sessions.untitled);
  const [format, setFormat] = useState<Format>("html");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [making, setMaking] = useState(false);
  const [preview, setPreview] = useState("");
  const read = async (cursor?: string) => {
    if (!session) return;
    try {
      const { messages } = await readSession(session.id, cursor, PAGE);
      const answers = messages.items.filter((message) => message.role === "assistant");
      const found = answers.map((message) => partOf(message.id, message.query));
      setParts((known) => [...found, ...(known ?? [])]);
      setOlder(messages.next_cursor);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  useEffect(() => void read(), []);
  const change = (id: string, changes: Partial<Part>) =>
    setParts((parts ?? []).map((part) => (part.id === id ? { ...part, ...changes } : part)));
  const move = (index: number, by: number) => {
    const moved = [...(parts ?? [])];
    const [part] = moved.splice(index, 1);
    if (part) moved.splice(index + by, 0, part);
    setParts(moved);
  };
  const wanted = (as: Format): NewReport => ({
    ...(session ? { session_id: session.id } : { board_id: board?.id ?? null }),
    title: title.trim() || texts.sessions.untitled,
    format: as,
    rows: 200,
    language: texts.language,
    time_zone: readerZone(),
    parts: (parts ?? [])
      .filter((part) => part.shown)
      .flatMap((part) => [
        ...(part.before.trim() ? [{ kind: "text" as const, markdown: part.before }] : []),
        {
          ...(session
            ? { kind: "answer" as const, message_id: part.id }
            : { kind: "pin" as const, pin_id: part.id }),
          heading: part.heading.trim() || null,
        },
      ]),
  });
  const make = async (use: () => Promise<void>) => {
    setMaking(true);
    setProblem(null);
    try {
      await use();
    } catch (error) {
      setProblem(asProblem(error));
    }
    setMaking(false);
  };
  const take = async () => download(await makeReport(wanted(format)), fileName(title, ENDINGS[format]));
  const look = async () => setPreview(await (await makeReport(wanted("html"))).text());
  const none = !parts?.some((part) => part.shown);
  return (
    <Dialog title={reports.title} onClose={onClose}>
      <div class="form report">
        <label>
          {reports.name}
          <input maxLength={300} value={title} onInput={(event) => setTitle(event.currentTarget.value)} />
        </label>
        {older !== null && (
          <button type="button" class="button" onClick={() => void read(older)}>
            {reports.older}
          </button>
        )}
        <ol class="report-parts">
          {parts?.map((part, index) => (
            <li key={part.id}>
              <label class="check">
                <input
                  type="checkbox"
                  checked={part.shown}
                  onChange={(event) => change(part.id, { shown: event.currentTarget.checked })}
                />
                {part.name}
              </label>
              <div class="tools">
                <button
                  type="button"
                  class="button"
                  disabled={index === 0}
                  aria-label={reports.up(part.name)}
                  onClick={() => move(index, -1)}
                >
                  ↑
                </button>
                <button
                  type="button"
                  class="button"
                  disabled={index === parts.length - 1}
                  aria-label={reports.down(part.name)}
                  onClick={() => move(index, 1)}
                >
                  ↓
                </button>
              </div>
              {part.shown && (
                <>
                  <input
                    maxLength={300}
                    placeholder={reports.heading}
                    aria-label={reports.headingOf(part.name)}
                    value={part.heading}
                    onInput={(event) => change(part.id, { heading: event.currentTarget.value })}
                  />
                  <textarea
                    rows={2}
                    maxLength={20_000}
                    placeholder={reports.before}
                    aria-label={reports.textBefore(part.name)}
                    value={part.before}
                    onInput={(event) => change(part.id, { before: event.currentTarget.value })}
                  />
                </>
              )}
            </li>
          ))}
        </ol>
        <label>
          {reports.format}
          <select value={format} onChange={(event) => setFormat(event.currentTarget.value as Format)}>
            {(["html", "markdown", "ipynb"] as const).map((each) => (
              <option key={each} value={each}>
                {reports.formats[each]}
              </option>
            ))}
          </select>
        </label>
        {problem && <ProblemBox problem={problem} />}
        {/* Without a right of its own: no script runs, no link leads away, and nothing of the page is in reach. */}
        {preview && <iframe class="report-preview" sandbox="" title={reports.preview} srcdoc={preview} />}
        <div class="tools">
          <button type="button" class="button" disabled={none} {...busy(making, () => void make(look))}>
            {reports.preview}
          </button>
          <button
            type="button"
            class="button primary"
            disabled={none}
            {...busy(making, () => void make(take))}
          >
            {reports.download}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function partOf(id: string, name: string): Part {
  return { id, name, shown: true, heading: "", before: "" };
}
