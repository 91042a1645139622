import type { Pin } from "../api/types";
import { ChartView } from "../conversation/chart/chart_view";
import { planOf, type Spec } from "../conversation/chart/spec";
import "../conversation/chart/chart.css";

/** The chart of a pin, with the choices that its answer had. Fetched when first shown. */
export default function TileChart({ pin, spec }: { pin: Pin; spec: Spec }) {
  const how = pin.chart_refusal ?? planOf(spec).how.join(" ");
  const heading = pin.chart_choice?.title;
  return (
    <div class="chart-panel">
      {heading && <p class="chart-heading">{heading}</p>}
      <ChartView spec={spec} room="given" />
      {how && <p class="tile-how quiet">{how}</p>}
    </div>
  );
}
