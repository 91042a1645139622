import { Download } from "lucide";
import { useEffect } from "preact/hooks";
import { Menu } from "../../shared/menu";
import { orSay } from "../../shared/or_say";
import { ProblemBox } from "../../shared/problem_box";
import { texts } from "../../shared/texts";
import { count } from "../../shared/time";
import type { AnswerRows } from "./answer_rows";
import { CutNotice } from "./cut_notice";
import { exportRows } from "./export";
import { RowsTable } from "./rows_table";

/** The rows, their number, and ways to export them. */
export function RowsPanel({ rows, title }: { rows: AnswerRows; title: string }) {
  useEffect(() => void rows.load(1), [rows, rows.messageId]);
  const problem = rows.problem.value;
  const reload = () => void rows.load(1);
  return (
    <div class="rows-panel">
      {problem && <ProblemBox problem={{ ...problem, title: texts.answer.rowsGone }} onRetry={reload} />}
      {rows.count === 0 && <p class="quiet no-rows">{texts.answer.nothingFound}</p>}
      {rows.loaded.value.length > 0 && <RowsTable rows={rows} />}
      {rows.cutBy && <CutNotice by={rows.cutBy} />}
      <RowsFoot rows={rows} title={title} />
    </div>
  );
}

function RowsFoot({ rows, title }: { rows: AnswerRows; title: string }) {
  const { csv, json, parquet, loading } = texts.rows;
  const take = (format: "csv" | "json" | "parquet") => ({
    label: texts.rows[format],
    onSelect: () => orSay(exportRows(rows, format, title)),
  });
  const partly = rows.loading.value && !rows.complete;
  return (
    <div class="tools">
      <span class="quiet">
        {partly
          ? loading(count(rows.loaded.value.length), count(rows.count))
          : texts.rows.count(count(rows.count))}
      </span>
      {rows.messageId && rows.count > 0 && (
        <Menu
          icon={Download}
          label={`${texts.rows.export}: ${csv}, ${json}, ${parquet}`}
          text={texts.rows.export}
          items={[take("csv"), take("json"), take("parquet")]}
        />
      )}
    </div>
  );
}
