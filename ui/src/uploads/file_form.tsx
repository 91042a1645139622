import { FileUp } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { correctFile } from "../api/client";
import { asProblem } from "../api/problem";
import type { FileBody, Problem } from "../api/types";
import { sendFile } from "../api/uploads";
import { refreshConnections, rememberConnection } from "../connections/connections";
import { Icon } from "../shared/icon";
import { ProblemBox } from "../shared/problem_box";
import { go } from "../shared/route";
import { uploads } from "./texts";
import { type Choice, FileColumns, choicesOf, correctionsOf } from "./file_columns";
import "./uploads.css";

type State = { at: "empty" } | { at: "sending"; share: number } | { at: "read"; file: FileBody };

/** Makes a database of a dropped or chosen file, and shows the types of its columns for correction. */
export default function FileForm({ onRead }: { onRead: () => void }) {
  const [state, setState] = useState<State>({ at: "empty" });
  const [problem, setProblem] = useState<Problem | null>(null);
  const [over, setOver] = useState(false);
  const chosen = useRef<HTMLInputElement>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const send = async (file: File | undefined) => {
    if (file === undefined) return;
    stop.current = new AbortController();
    setProblem(null);
    setState({ at: "sending", share: 0 });
    try {
      const share = (part: number) => setState({ at: "sending", share: part });
      const made = await sendFile(file, share, stop.current.signal);
      rememberConnection(made.connection.id);
      void refreshConnections();
      setState({ at: "read", file: made });
      onRead();
    } catch (error) {
      setProblem(asProblem(error));
      setState({ at: "empty" });
    }
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void send(event.dataTransfer?.files[0]);
  };
  if (state.at === "read")
    return <ReadFile file={state.file} onRead={(file) => setState({ at: "read", file })} />;
  const sending = state.at === "sending";
  return (
    <div
      class={`file-drop${over ? " over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <input
        ref={chosen}
        type="file"
        hidden
        accept=".csv,.tsv,.txt,.xlsx,.parquet"
        aria-label={uploads.choose}
        onChange={(event) => void send(event.currentTarget.files?.[0])}
      />
      <button type="button" class="button" disabled={sending} onClick={() => chosen.current?.click()}>
        <Icon of={FileUp} /> {uploads.choose}
      </button>
      <span class="quiet">{uploads.drop}</span>
      {sending && (
        <>
          <progress aria-label={uploads.sending} value={state.share} max={1} />
          <span class="quiet" role="status">
            {state.share < 1 ? uploads.sending : uploads.reading}
          </span>
        </>
      )}
      {problem && <ProblemBox problem={problem} />}
    </div>
  );
}

function ReadFile({ file, onRead }: { file: FileBody; onRead: (file: FileBody) => void }) {
  const [choices, setChoices] = useState<Choice[]>(() => choicesOf(file));
  const [reading, setReading] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const changed = choices.some((choice) => choice.changed);
  const again = async () => {
    setReading(true);
    setProblem(null);
    try {
      const corrected = await correctFile(file.connection.id, correctionsOf(choices));
      onRead(corrected);
      setChoices(choicesOf(corrected, choices));
    } catch (error) {
      setProblem(asProblem(error));
    }
    setReading(false);
  };
  return (
    <section class="read-file" aria-label={uploads.read(file.connection.name)}>
      <h2 tabIndex={-1} ref={(heading) => heading?.focus()}>
        {uploads.read(file.connection.name)}
      </h2>
      <p class="quiet">{uploads.check}</p>
      {file.notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      <FileColumns file={file} choices={choices} choose={setChoices} />
      {problem && <ProblemBox problem={problem} />}
      <div class="tools">
        <button type="button" class="button" disabled={!changed || reading} onClick={() => void again()}>
          {reading ? uploads.reading : uploads.again}
        </button>
        <button
          type="button"
          class="button primary"
          disabled={changed || reading}
          onClick={() => go(`/connections/${file.connection.id}`)}
        >
          {uploads.open}
        </button>
      </div>
    </section>
  );
}
