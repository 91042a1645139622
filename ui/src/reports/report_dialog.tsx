import { useEffect, useState } from "preact/hooks";
import { makeReport, readSession } from "../api/client";
import { asProblem } from "../api/problem";
import type { Message, NewReport, Problem, Session } from "../api/types";
import { Dialog } from "../shared/dialog";
import { download, fileName } from "../shared/files";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { reports } from "./texts";
import "./reports.css";

type Format = NonNullable<NewReport["format"]>;
type Part = { key: string; message: Message; shown: boolean; before: string };

const ENDINGS: Record<Format, string> = { html: "html", markdown: "md", ipynb: "ipynb" };

/** Chooses answers of a session with own text before them, and downloads them as one file. */
export default function ReportDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const [parts, setParts] = useState<Part[] | null>(null);
  const [title, setTitle] = useState(session.title ?? texts.sessions.untitled);
  const [format, setFormat] = useState<Format>("html");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [making, setMaking] = useState(false);
  const [preview, setPreview] = useState("");
  useEffect(() => {
    readSession(session.id)
      .then(({ messages }) => {
        const answers = messages.items.filter((message) => message.role === "assistant");
        setParts(answers.map((message) => ({ key: message.id, message, shown: true, before: "" })));
      })
      .catch((error: unknown) => setProblem(asProblem(error)));
  }, [session.id]);
  const change = (key: string, changes: Partial<Part>) =>
    setParts((parts ?? []).map((part) => (part.key === key ? { ...part, ...changes } : part)));
  const move = (index: number, by: number) => {
    const moved = [...(parts ?? [])];
    const [part] = moved.splice(index, 1);
    if (part) moved.splice(index + by, 0, part);
    setParts(moved);
  };
  const wanted = (as: Format): NewReport => ({
    session_id: session.id,
    title: title.trim() || texts.sessions.untitled,
    format: as,
    rows: 200,
    parts: (parts ?? [])
      .filter((part) => part.shown)
      .flatMap((part) => [
        ...(part.before.trim() ? [{ kind: "text" as const, markdown: part.before }] : []),
        { kind: "answer" as const, message_id: part.message.id },
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
  const look = async () => setPreview(await (await makeReport(wanted("markdown"))).text());
  const none = !parts?.some((part) => part.shown);
  return (
    <Dialog title={reports.title} onClose={onClose}>
      <div class="form report">
        <label>
          {reports.name}
          <input maxLength={300} value={title} onInput={(event) => setTitle(event.currentTarget.value)} />
        </label>
        <ol class="report-parts">
          {parts?.map((part, index) => (
            <li key={part.key}>
              <label class="check">
                <input
                  type="checkbox"
                  checked={part.shown}
                  onChange={(event) => change(part.key, { shown: event.currentTarget.checked })}
                />
                {part.message.query}
              </label>
              <div class="tools">
                <button
                  type="button"
                  class="button"
                  disabled={index === 0}
                  aria-label={reports.up(part.message.query)}
                  onClick={() => move(index, -1)}
                >
                  ↑
                </button>
                <button
                  type="button"
                  class="button"
                  disabled={index === parts.length - 1}
                  aria-label={reports.down(part.message.query)}
                  onClick={() => move(index, 1)}
                >
                  ↓
                </button>
              </div>
              <textarea
                rows={1}
                maxLength={20_000}
                placeholder={reports.before}
                aria-label={reports.textBefore(part.message.query)}
                value={part.before}
                onInput={(event) => change(part.key, { before: event.currentTarget.value })}
              />
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
        {preview && (
          <pre class="report-preview" tabIndex={0} aria-label={reports.preview}>
            {preview}
          </pre>
        )}
        <div class="tools">
          <button type="button" class="button" disabled={none || making} onClick={() => void make(look)}>
            {reports.preview}
          </button>
          <button
            type="button"
            class="button primary"
            disabled={none || making}
            onClick={() => void make(take)}
          >
            {reports.download}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
