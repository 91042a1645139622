import { Copy, Search, Sigma } from "lucide";
import type { ComponentChildren } from "preact";
import { Icon } from "../../shared/icon";
import { texts } from "../../shared/texts";
import { count } from "../../shared/time";
import type { AnswerRows } from "./answer_rows";
import { tableTexts } from "./table_texts";

interface Shown {
  rows: AnswerRows;
  hidden: number;
  totals: boolean;
  onShowAll: () => void;
  onFind: () => void;
  onTotals: () => void;
  onCopy: () => void;
  /** Ways to take the rows along. */
  children?: ComponentChildren;
}

/** The number of rows, and what one can do with all of them. */
export function TableTools({ rows, hidden, totals, onShowAll, onFind, onTotals, onCopy, children }: Shown) {
  const { loading } = texts.rows;
  const partly = rows.loading.value && !rows.complete;
  return (
    <div class="tools" role="toolbar" aria-label={tableTexts.tools}>
      <span class="quiet row-count">
        {partly
          ? loading(count(rows.loaded.value.length), count(rows.count))
          : texts.rows.count(count(rows.count))}
      </span>
      {hidden > 0 && (
        <button type="button" class="button small" onClick={onShowAll}>
          {tableTexts.hidden(hidden)}
        </button>
      )}
      <button type="button" class="button small" onClick={onFind}>
        <Icon of={Search} size={14} /> {tableTexts.findHint}
      </button>
      <button type="button" class="button small" aria-pressed={totals} onClick={onTotals}>
        <Icon of={Sigma} size={14} /> {tableTexts.totals}
      </button>
      <button type="button" class="button small" aria-label={tableTexts.copyLabel} onClick={onCopy}>
        <Icon of={Copy} size={14} /> {tableTexts.copy}
      </button>
      {children}
    </div>
  );
}
