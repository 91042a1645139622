/** The SQL editor, fetched when it is first shown. */
import { autocompletion, closeBrackets } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { PostgreSQL, SQLite, sql as sqlLanguage } from "@codemirror/lang-sql";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Compartment } from "@codemirror/state";
import { drawSelection, EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { Play, WandSparkles } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { inspectStatement, listTables } from "../../api/client";
import { asProblem } from "../../api/problem";
import { Icon } from "../../shared/icon";
import { texts } from "../../shared/texts";
import { sqlTexts } from "./texts";

interface Shown {
  sql: string;
  dialect: string;
  connectionId: string;
  /** Raises why the statement did not run. */
  onRun: (sql: string) => Promise<void>;
  onCancel: () => void;
}

// The page's own colours, so that both themes fit.
const colors = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--sql-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--sql-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--sql-number)" },
  { tag: [tags.lineComment, tags.blockComment], color: "var(--muted)" },
]);

export default function SqlEditor({ sql, dialect, connectionId, onRun, onCancel }: Shown) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const text = () => editor.current?.state.doc.toString() ?? sql;
  const submit = (statement: string) => {
    setRefusal(null);
    onRun(statement).catch((error: unknown) => setRefusal(asProblem(error).detail));
  };
  const layOut = async () => {
    try {
      replaceAll(editor.current, (await inspectStatement(connectionId, text())).sql);
      setRefusal(null);
    } catch (error) {
      setRefusal(asProblem(error).detail);
    }
  };
  useEffect(() => {
    if (!place.current) return;
    const view = open(place.current, { sql, dialect, connectionId, onRun: submit, onCancel });
    editor.current = view;
    return () => view.destroy();
  }, []);
  return (
    <div class="sql-panel">
      <div class="sql-editor" ref={place} />
      {refusal && (
        <p class="refusal" role="alert">
          {refusal}
        </p>
      )}
      <div class="tools">
        <button type="button" class="button small primary" onClick={() => submit(text())}>
          <Icon of={Play} size={13} /> {sqlTexts.run}
        </button>
        <button type="button" class="button small" onClick={() => void layOut()}>
          <Icon of={WandSparkles} size={14} /> {sqlTexts.format}
        </button>
        <button type="button" class="button small" onClick={onCancel}>
          {texts.cancel}
        </button>
        <span class="quiet">{sqlTexts.editing}</span>
      </div>
    </div>
  );
}

type Opened = Omit<Shown, "onRun"> & { onRun: (sql: string) => void };

function open(parent: HTMLElement, { sql, dialect, connectionId, onRun, onCancel }: Opened): EditorView {
  const language = new Compartment();
  const flavor = dialect === "postgres" ? PostgreSQL : SQLite;
  const keys = [
    { key: "Mod-Enter", run: (view: EditorView) => done(() => onRun(view.state.doc.toString())) },
    { key: "Escape", run: () => done(onCancel) },
  ];
  const view = new EditorView({
    parent,
    doc: sql,
    extensions: [
      ...[history(), drawSelection(), bracketMatching(), closeBrackets(), autocompletion()],
      keymap.of([...keys, ...defaultKeymap, ...historyKeymap]),
      syntaxHighlighting(colors),
      language.of(sqlLanguage({ dialect: flavor })),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": sqlTexts.editor }),
    ],
  });
  view.focus();
  void namesOf(connectionId).then((schema) => {
    view.dispatch({ effects: language.reconfigure(sqlLanguage({ dialect: flavor, schema })) });
  });
  return view;
}

/** Tables and their columns, for completion; the first hundred are enough to help. */
async function namesOf(connectionId: string): Promise<Record<string, string[]>> {
  const page = await listTables(connectionId).catch(() => ({ items: [] }));
  return Object.fromEntries(page.items.map((table) => [table.name, table.columns.map((each) => each.name)]));
}

function replaceAll(view: EditorView | null, insert: string): void {
  view?.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } });
}

function done(act: () => void): true {
  act();
  return true;
}
