import { Download } from "lucide";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { View } from "vega";
import { download, fileName } from "../../shared/files";
import { Icon } from "../../shared/icon";
import { orSay } from "../../shared/or_say";
import { texts } from "../../shared/texts";
import { shownTheme } from "../../shared/theme";
import type { Row } from "../../api/types";
import type { AnswerRows } from "../rows/answer_rows";
import { type Choice, channels, chosen, isSeries, marks, needsRows } from "./choices";
import { draw, picture } from "./draw";
import { drawnHeight } from "./height";
import type { Channel, Chart, Mark } from "./intent";
import { colorsOf } from "./look";
import "./chart.css";

interface Shown {
  chart: Chart;
  /** Null for an answer about rows of an earlier answer. */
  rows: AnswerRows | null;
  title: string;
}

const NONE: Row[] = [];

/** The chart, its choices, and ways to export it. Fetched when first shown. */
export default function ChartPanel({ chart, rows, title }: Shown) {
  const [choice, choose] = useState<Choice>({});
  const loaded = rows?.loaded.value ?? NONE;
  const wanted = needsRows(choice);
  useEffect(() => {
    if (wanted) void rows?.load(rows.count);
  }, [rows, rows?.messageId, wanted]);
  const shown = useMemo(() => chosen(chart, choice, rows, loaded), [chart, choice, rows, loaded]);
  const place = useRef<HTMLDivElement>(null);
  const { view, failed } = useDrawing(shown, place);
  const change = (part: Choice) => choose({ ...choice, ...part });
  const take = async (format: "png" | "svg") => {
    if (view.current) download(await picture(view.current, format), fileName(title, format));
  };
  return (
    <div class="chart-panel">
      {failed && <p class="quiet">{texts.chart.failed}</p>}
      <div
        class="chart"
        role="img"
        aria-label={texts.chart.label(shown.value.title, shown.across.title, shown.how)}
        style={{ minHeight: `${drawnHeight(shown, place.current?.clientWidth)}px` }}
      >
        <div ref={place} aria-hidden="true" />
      </div>
      <div class="tools">
        <Choices chart={chart} shown={shown} rows={rows} change={change} />
        <span class="tools-end">
          {(["png", "svg"] as const).map((format) => (
            <button type="button" class="button small" key={format} onClick={() => orSay(take(format))}>
              <Icon of={Download} size={13} /> {texts.chart[format]}
            </button>
          ))}
        </span>
      </div>
    </div>
  );
}

/** Draws the chart into an element, again for each chart, theme and width. */
function useDrawing(chart: Chart, place: { current: HTMLDivElement | null }) {
  const view = useRef<View | null>(null);
  const [failed, setFailed] = useState(false);
  const [width, setWidth] = useState(0);
  const theme = shownTheme();
  useEffect(() => {
    if (!place.current) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const element = place.current;
    if (!element || width === 0) return;
    let current = true;
    const drawing = draw(chart, element, colorsOf(element));
    drawing.then(
      (drawn) => {
        if (!current) return;
        view.current = drawn;
        setFailed(false);
      },
      () => setFailed(current),
    );
    return () => {
      current = false;
      void drawing.then((drawn) => drawn.finalize()).catch(() => null);
    };
  }, [chart, width, theme]);
  return { view, failed };
}

interface Changeable extends Omit<Shown, "title"> {
  shown: Chart;
  change: (part: Choice) => void;
}

function Choices({ chart, shown, rows, change }: Changeable) {
  const all = channels(chart, rows);
  const measures = all.filter((each) => each.kind === "quantitative");
  const series = all.filter((each) => each !== shown.across && isSeries(each, shown.data));
  return (
    <>
      <label>
        {texts.chart.type}
        <select value={shown.mark} onChange={(event) => change({ mark: event.currentTarget.value as Mark })}>
          {[...new Set([...marks(shown), shown.mark])].map((mark) => (
            <option key={mark} value={mark}>
              {texts.chart.marks[mark]}
            </option>
          ))}
        </select>
      </label>
      <Axis name={texts.chart.x} of={all} shown={shown.across} choose={(across) => change({ across })} />
      <Axis name={texts.chart.y} of={measures} shown={shown.value} choose={(value) => change({ value })} />
      {shown.mark !== "arc" && series.length > 0 && (
        <Axis
          name={texts.chart.series}
          of={series}
          shown={shown.series}
          none={texts.chart.noSeries}
          choose={(field) => change({ series: field })}
        />
      )}
    </>
  );
}

interface ShownAxis {
  name: string;
  of: Channel[];
  shown: Channel | null;
  none?: string;
  choose: (field: string) => void;
}

function Axis({ name, of, shown, none, choose }: ShownAxis) {
  return (
    <label>
      {name}
      <select value={shown?.field ?? ""} onChange={(event) => choose(event.currentTarget.value)}>
        {none && <option value="">{none}</option>}
        {of.map((channel) => (
          <option key={channel.field} value={channel.field}>
            {channel.title}
          </option>
        ))}
      </select>
    </label>
  );
}
