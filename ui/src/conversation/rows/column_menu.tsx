import { ArrowDown, ArrowUp, EyeOff, ListRestart, Pin, Workflow } from "lucide";
import { useEffect, useRef } from "preact/hooks";
import type { Cell } from "../../api/types";
import { Icon } from "../../shared/icon";
import { locale } from "../../shared/locale";
import { texts } from "../../shared/texts";
import { count } from "../../shared/time";
import type { AnswerRows } from "./answer_rows";
import { type Format, isNumeric } from "./format";
import type { Sorting } from "./sort";
import { type Statistics, statisticsOf } from "./statistics";
import { tableTexts } from "./table_texts";

interface Shown {
  rows: AnswerRows;
  column: number;
  format: Format;
  sorting: Sorting | null;
  frozen: boolean;
  /** The button that opened it. */
  button: HTMLElement;
  onSort: (sorting: Sorting | null) => void;
  onHide: () => void;
  onFreeze: () => void;
  onClose: () => void;
}

const MARGIN = 8;

/** What one can do with a column, and its figures over all rows. */
export function ColumnMenu(props: Shown) {
  const { rows, column, format, sorting, frozen, button, onClose } = props;
  const root = useRef<HTMLDivElement>(null);
  const shown = rows.columns[column];
  const { explain } = rows;
  useEffect(() => {
    const menu = root.current;
    if (!menu) return;
    menu.showPopover();
    const place = button.getBoundingClientRect();
    const furthest = window.innerWidth - menu.offsetWidth - MARGIN;
    const lowest = window.innerHeight - menu.offsetHeight - MARGIN;
    menu.style.left = `${Math.max(MARGIN, Math.min(place.left, furthest))}px`;
    menu.style.top = `${Math.max(MARGIN, Math.min(place.bottom + 2, lowest))}px`;
    menu.querySelector("button")?.focus();
    const onToggle = (event: ToggleEvent) => {
      if (event.newState === "closed") onClose();
    };
    menu.addEventListener("toggle", onToggle);
    return () => menu.removeEventListener("toggle", onToggle);
  }, []);
  const act = (does: () => void) => () => {
    root.current?.hidePopover();
    does();
  };
  if (!shown) return null;
  return (
    <div
      ref={root}
      class="column-menu"
      popover="auto"
      role="dialog"
      aria-label={tableTexts.column(shown.name)}
    >
      <div class="column-acts">
        <button type="button" onClick={act(() => props.onSort({ column, descending: false }))}>
          <Icon of={ArrowUp} /> {tableTexts.ascending}
        </button>
        <button type="button" onClick={act(() => props.onSort({ column, descending: true }))}>
          <Icon of={ArrowDown} /> {tableTexts.descending}
        </button>
        {sorting && (
          <button type="button" onClick={act(() => props.onSort(null))}>
            <Icon of={ListRestart} /> {tableTexts.unsorted}
          </button>
        )}
        <button type="button" onClick={act(props.onFreeze)}>
          <Icon of={Pin} /> {frozen ? tableTexts.unfreeze : tableTexts.freeze}
        </button>
        {rows.columns.length > 1 && (
          <button type="button" onClick={act(props.onHide)}>
            <Icon of={EyeOff} /> {tableTexts.hide}
          </button>
        )}
        {explain && (
          <button type="button" onClick={act(() => explain(shown.name))}>
            <Icon of={Workflow} /> {texts.provenance.title}
          </button>
        )}
      </div>
      <Figures rows={rows} column={column} format={format} numeric={isNumeric(shown)} />
    </div>
  );
}

interface Measured {
  rows: AnswerRows;
  column: number;
  format: Format;
  numeric: boolean;
}

function Figures({ rows, column, format, numeric }: Measured) {
  if (rows.problem.value) return <p class="quiet">{rows.problem.value.detail}</p>;
  if (!rows.complete)
    return <p class="quiet">{texts.rows.loading(count(rows.loaded.value.length), count(rows.count))}</p>;
  const found = statisticsOf(rows.loaded.value, column, numeric);
  return (
    <>
      <h3>{tableTexts.statistics}</h3>
      <dl>
        {listed(found, format).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h3>{tableTexts.top}</h3>
      <dl>
        {found.top.map(([cell, times], index) => (
          <div key={index}>
            <dt>{format(cell)}</dt>
            <dd>{count(times)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function listed({ min, max, mean, nulls, distinct }: Statistics, format: Format): [string, string][] {
  const shown = (cell: Cell) => (cell === null ? texts.rows.nothing : format(cell));
  return [
    [tableTexts.min, shown(min)],
    [tableTexts.max, shown(max)],
    ...(mean === null ? [] : [[tableTexts.mean, MEAN.format(mean)] as [string, string]]),
    [tableTexts.nulls, count(nulls)],
    [tableTexts.distinct, count(distinct)],
  ];
}

const MEAN = new Intl.NumberFormat(locale, { maximumSignificantDigits: 6 });
