/** Exports the rows as a file. */
import { rowsFile } from "../../api/client";
import { download, fileName } from "../../shared/files";
import type { AnswerRows } from "./answer_rows";

/** Characters of the title in a file's name; leaves room for the note that the rows are cut. */
const LONGEST = 50;

/** Every row of the answer, also those not loaded. Raises what the API calls raise. */
export async function exportRows(
  rows: AnswerRows,
  format: "csv" | "json" | "parquet" | "xlsx",
  title: string,
): Promise<void> {
  const name = rows.cutBy ? `${title.slice(0, LONGEST)} truncated` : title;
  download(await contentOf(rows, format), fileName(name, format));
}

async function contentOf(rows: AnswerRows, format: "csv" | "json" | "parquet" | "xlsx"): Promise<Blob> {
  if (format !== "json") return rowsFile(rows.place, format);
  const names = rows.columns.map((column) => column.name);
  const objects = (await rows.all()).map((row) =>
    Object.fromEntries(names.map((name, index) => [name, row[index]])),
  );
  return new Blob([JSON.stringify(objects, null, 1)], { type: "application/json" });
}
