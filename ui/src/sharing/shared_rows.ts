/** The rows of an answer that a link shows. */
import type { RowsPage } from "../api/types";
import type { Head } from "../conversation/model";
import { AnswerRows } from "../conversation/rows/answer_rows";
import { readSharedRows } from "./links_api";

export class SharedRows extends AnswerRows {
  /** Files are made of the reader's own answers only. */
  override readonly canExport = false;

  constructor(
    private readonly linkId: string,
    messageId: string,
    head: Head,
  ) {
    super("", head);
    this.messageId = messageId;
  }

  protected override page(limit: number, cursor: string | undefined): Promise<RowsPage> {
    return readSharedRows(this.linkId, this.messageId ?? "", limit, cursor);
  }
}
