import { Download } from "lucide";
import { useEffect } from "preact/hooks";
import { Menu } from "../../shared/menu";
import { orSay } from "../../shared/or_say";
import { ProblemBox } from "../../shared/problem_box";
import { texts } from "../../shared/texts";
import type { AnswerRows } from "./answer_rows";
import { CutNotice } from "./cut_notice";
import { exportRows } from "./export";
import { panelHeight } from "./height";
import { RowsTable } from "./rows_table";

/** The rows, their number, and ways to export them. */
export default function RowsPanel({ rows, title }: { rows: AnswerRows; title: string }) {
  useEffect(() => void rows.load(1), [rows, rows.messageId]);
  const problem = rows.problem.value;
  const reload = () => void rows.load(1);
  const isThere = rows.loaded.value.length > 0;
  const coming = !isThere && rows.count > 0 && !problem;
  return (
    <div class="rows-panel" style={coming ? { minHeight: `${panelHeight(rows.count)}px` } : {}}>
      {problem && <ProblemBox problem={{ ...problem, title: texts.answer.rowsGone }} onRetry={reload} />}
      {rows.count === 0 && <p class="quiet no-rows">{texts.answer.nothingFound}</p>}
      {isThere && (
        <RowsTable rows={rows}>
          {rows.messageId && rows.canExport && <Export rows={rows} title={title} />}
        </RowsTable>
      )}
      {rows.cutBy && <CutNotice by={rows.cutBy} />}
    </div>
  );
}

function Export({ rows, title }: { rows: AnswerRows; title: string }) {
  const { csv, json, parquet, xlsx } = texts.rows;
  const take = (format: "csv" | "json" | "parquet" | "xlsx") => ({
    label: texts.rows[format],
    onSelect: () => orSay(exportRows(rows, format, title)),
  });
  return (
    <Menu
      icon={Download}
      label={`${texts.rows.export}: ${csv}, ${xlsx}, ${json}, ${parquet}`}
      text={texts.rows.export}
      items={[take("csv"), take("xlsx"), take("json"), take("parquet")]}
    />
  );
}
