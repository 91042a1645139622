import { useEffect, useMemo, useState } from "preact/hooks";
import type { Pin, Row } from "../api/types";
import { settingsOf } from "../conversation/chart/build";
import { computedChart } from "../conversation/chart/computed";
import { ChartView } from "../conversation/chart/chart_view";
import { needsRows, readChoice } from "../conversation/chart/choices";
import type { Chart } from "../conversation/chart/intent";
import { shownChart } from "../conversation/chart/shown";
import "../conversation/chart/chart.css";
import { orSay } from "../shared/or_say";

interface Shown {
  pin: Pin;
  chart: Chart;
  /** Reads all rows of the pin. Null if the reader gets none but those of the proposed chart. */
  read: ((pin: Pin) => Promise<Row[]>) | null;
}

/** The chart of a pin, with the choices that its answer had. Fetched when first shown. */
export default function TileChart({ pin, chart, read }: Shown) {
  const [hidden, hide] = useState<ReadonlySet<string>>(new Set());
  const choice = useMemo(() => readChoice(pin.chart_choice, pin.columns.length), [pin.chart_choice]);
  const wanted = needsRows(chart, choice);
  const [rows, setRows] = useState<Row[] | null>(null);
  useEffect(() => {
    if (wanted && read) orSay(read(pin).then(setRows));
  }, [wanted, pin.ran_at]);
  const shown = useMemo(() => {
    const settings = settingsOf(chart, choice, pin.columns, rows ?? []);
    return (
      computedChart(pin.computed_chart, settings, choice) ??
      shownChart(chart, choice, { columns: pin.columns, rows }) ??
      chart
    );
  }, [chart, choice, wanted, rows, pin.computed_chart]);
  const how = pin.computed_chart?.refusal ?? shown.how;
  const toggle = (name: string) =>
    hide((before) => {
      const after = new Set(before);
      if (!after.delete(name)) after.add(name);
      return after;
    });
  return (
    <div class="chart-panel">
      {choice.title && <p class="chart-heading">{shown.heading}</p>}
      <ChartView chart={shown} hidden={hidden} toggle={toggle} room="given" />
      {how && <p class="tile-how quiet">{how}</p>}
    </div>
  );
}
