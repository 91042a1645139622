import { Download, RotateCcw, SlidersHorizontal } from "lucide";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { download, fileName } from "../../shared/files";
import { IconButton } from "../../shared/icon_button";
import { Menu } from "../../shared/menu";
import { lazy } from "../../shared/lazy";
import { orSay } from "../../shared/or_say";
import { texts } from "../../shared/texts";
import type { ChartOption, Column, ComputedChart, Row } from "../../api/types";
import type { AnswerRows } from "../rows/answer_rows";
import { settingsOf } from "./build";
import { Builder } from "./builder";
import { ChartView } from "./chart_view";
import { computedChart } from "./computed";
import { type Choice, needsRows, readChoice, withoutGaps } from "./choices";
import { drawingHeight } from "./height";
import type { Chart } from "./intent";
import { colorsOf } from "./look";
import { notesOf } from "./notes";
import { picture } from "./picture";
import { pictureOf } from "./scene";
import { shownChart } from "./shown";
import { chartTexts } from "./texts";
import { useOptions } from "./use_options";
import "./chart.css";

const MoreChoices = lazy(() => import("./more_choices"));

interface Shown {
  /** The server's chart; null if it proposed none. */
  chart: Chart | null;
  /** Null for an answer about rows of an earlier answer. */
  rows: AnswerRows | null;
  title: string;
  /** As the answer keeps it. */
  choice: unknown;
  choose: (choice: Choice | null) => void;
  /** What the server has computed for the chart. */
  computed: ComputedChart | null;
  /** Null where nothing can be computed. Throws if the rows do not allow the option. */
  compute: ((option: ChartOption | null) => Promise<void>) | null;
}

const NO_ROWS: Row[] = [];
const NO_COLUMNS: Column[] = [];
const PICTURE_WIDTH = 860;

/** The chart, its choices, and ways to export it. Fetched when first shown. */
export default function ChartPanel({ chart, rows, title, choice: kept, choose, computed, compute }: Shown) {
  const root = useRef<HTMLDivElement>(null);
  const [hidden, hide] = useState<ReadonlySet<string>>(new Set());
  const [more, showMore] = useState(false);
  const columns = rows?.columns ?? NO_COLUMNS;
  const choice = useMemo(() => readChoice(kept, columns.length), [kept, columns]);
  const loaded = rows?.loaded.value ?? NO_ROWS;
  const wanted = needsRows(chart, choice);
  useEffect(() => {
    if (wanted) void rows?.load(rows.count);
  }, [rows, rows?.messageId, wanted]);
  const whole = rows !== null && loaded.length >= rows.count;
  const settings = useMemo(
    () => settingsOf(chart, choice, columns, loaded),
    [chart, choice, columns, loaded],
  );
  const ofServer = useMemo(() => computedChart(computed, settings, choice), [computed, settings, choice]);
  const options = useOptions({ chart, settings, computed, compute });
  const shown = useMemo(
    () => ofServer ?? shownChart(chart, choice, { columns, rows: whole ? loaded : null }),
    [ofServer, chart, choice, whole, columns, loaded],
  );
  const change = (part: { [Key in keyof Choice]: Choice[Key] | undefined }) => {
    const next = withoutGaps({ ...choice, ...part });
    choose(next);
    options.follow(Object.keys(part), settingsOf(chart, next, columns, loaded));
  };
  if (!shown) return <p class="quiet chart-rows">{chartTexts.drawing}</p>;
  const toggle = (name: string) =>
    hide(
      (before) => new Set(before.has(name) ? [...before].filter((each) => each !== name) : [...before, name]),
    );
  const cut = wanted && rows?.cutBy ? texts.rows.cut[rows.cutBy] : "";
  const notes = notesOf(shown, cut);
  const take = async (format: "png" | "svg") => {
    if (!root.current) return;
    const size = { width: PICTURE_WIDTH, height: drawingHeight(shown), direct: true };
    const drawing = pictureOf(shown, notes, { ...size, colors: colorsOf(root.current), hidden });
    download(await picture(drawing, format), fileName(title, format));
  };
  const reset = () => {
    choose(null);
    if (computed) options.choose(null);
  };
  const parts = { chart: shown, settings, choice, columns, rows: loaded, change };
  return (
    <div class="chart-panel" ref={root}>
      <div class="tools" onFocusIn={() => void rows?.load(rows.count)}>
        {rows && <Builder {...parts} />}
        <span class="tools-end">
          {rows && (
            <IconButton
              icon={SlidersHorizontal}
              label={chartTexts.more}
              size={15}
              expanded={more}
              onClick={() => showMore(!more)}
            />
          )}
          {(Object.keys(choice).length > 0 || (computed && compute)) && (
            <IconButton icon={RotateCcw} label={chartTexts.reset} size={15} onClick={reset} />
          )}
          <Menu
            icon={Download}
            label={chartTexts.save}
            items={(["png", "svg"] as const).map((format) => ({
              label: chartTexts.saveAs[format],
              onSelect: () => orSay(take(format)),
            }))}
          />
        </span>
      </div>
      {more && rows && <MoreChoices {...parts} computed={computed} options={compute ? options : null} />}
      {options.refusal && (
        <p class="chart-refusal" role="status">
          {options.refusal}
        </p>
      )}
      {shown.heading && <p class="chart-heading">{shown.heading}</p>}
      <ChartView chart={shown} hidden={hidden} toggle={toggle} />
      <p class="chart-rows quiet">{notes}</p>
    </div>
  );
}
