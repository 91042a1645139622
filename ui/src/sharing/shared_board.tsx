import type { BoardWithPins, Pin } from "../api/types";
import { COLUMNS, filled } from "../boards/grid";
import { daysOf } from "../boards/period";
import { boardTexts, periodTexts } from "../boards/texts";
import { Shows } from "../boards/shows";
import { rowsOf, shortly } from "../boards/when";
import { count } from "../shared/time";
import { linkTexts } from "./texts";
import "../boards/boards.css";

/** The pins of a board that the reader may see, with their last rows. */
export default function SharedBoard({ board }: { board: BoardWithPins }) {
  const columns = filled(board.pins);
  return (
    <div class="shared-board">
      <p class="quiet">{board.pins.length === 0 ? linkTexts.noPins : rowsOf(board.pins)}</p>
      <div class="board-grid">
        {board.pins.map((each, index) => (
          <article
            key={each.id}
            class="tile"
            data-state={each.state}
            style={{ "--width": each.width, "--height": each.height, "--filled": columns[index] ?? COLUMNS }}
          >
            <header>
              <h2 title={each.question}>{each.title}</h2>
            </header>
            <Shows pin={each} />
            <footer class="quiet">{footOf(each)}</footer>
          </article>
        ))}
      </div>
    </div>
  );
}

function footOf(pin: Pin): string {
  const parts = [pin.period?.reason ? periodTexts.none : daysOf(pin)].filter(Boolean);
  if (pin.row_count !== null && pin.row_count > 1) parts.push(boardTexts.rows(count(pin.row_count)));
  if (pin.truncated) parts.push(boardTexts.cut);
  if (pin.ran_at) parts.push(shortly(pin.ran_at));
  return parts.join(" · ");
}
