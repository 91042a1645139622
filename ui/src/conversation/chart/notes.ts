import { texts } from "../../shared/texts";
import { count } from "../../shared/time";
import type { Chart } from "./intent";
import { chartTexts } from "./texts";

/** How many rows a chart is made of, and how; `cut` says what limit cut them off. Reports say the same. */
export function notesOf({ rows, data, how, computed }: Chart, cut = ""): string {
  const counted = texts.rows.count(count(rows));
  const said = [cut, how].filter(Boolean).join(" ");
  const drawn =
    how && rows !== data.length
      ? chartTexts.drawnAs(counted, count(data.length))
      : chartTexts.allDrawn(counted);
  return [computed ? counted : drawn, said].filter(Boolean).join(". ");
}
