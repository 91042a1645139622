import { signal } from "@preact/signals";
import { SqlText } from "../shared/sql_text";
import { texts } from "../shared/texts";
import { count } from "../shared/time";
import { type Answer, shownSql } from "./model";
import { plain } from "./rows/format";
import "./printed.css";

const MOST_ROWS = 30;

/** Whether the page is being printed. */
export const printing = signal(false);

addEventListener("beforeprint", () => {
  printing.value = true;
});
addEventListener("afterprint", () => {
  printing.value = false;
});

/** The first rows and the statement of an answer, whatever its card shows: paper has no tabs. */
export function Printed({ answer }: { answer: Answer }) {
  if (!printing.value) return null;
  const { head } = answer;
  const sql = shownSql(answer);
  return (
    <div class="printed">
      {head && head.rows.length > 0 && (
        <table>
          <thead>
            <tr>
              {head.columns.map((each) => (
                <th key={each.name}>{each.name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {head.rows.slice(0, MOST_ROWS).map((row, index) => (
              <tr key={index}>
                {row.map((cell, place) => (
                  <td key={place}>{plain(cell)}</td>
                ))}
              </tr>
            ))}
          </tbody>
          <caption>{texts.rows.count(count(head.rowCount))}</caption>
        </table>
      )}
      {sql && <SqlText sql={sql} />}
    </div>
  );
}
