import { texts } from "../shared/texts";
import { dateText, moment } from "../shared/time";
import { matchOf } from "./verified";
import { verifiedTexts } from "./verified_texts";
import "./verified_mark.css";

interface Shown {
  connectionId: string;
  sql: string;
  /** Without the name and the day, which are in the tooltip. */
  short?: boolean;
}

/** Says that a statement is the SQL of a verified example, and who verified it. Nothing if it is not. */
export default function VerifiedMark({ connectionId, sql, short = false }: Shown) {
  const match = matchOf(connectionId, sql).value;
  if (match === null) return null;
  const { verified_by: by, verified_at: at, question } = match;
  const who = by && at ? verifiedTexts.title(by, moment(at)) : texts.answer.verified;
  return (
    <span class="verified-mark" title={`${who} (${question})`}>
      {!short && by && at && <span class="whole">{verifiedTexts.by(by, dateText(at, "day"))}</span>}
      <span class="brief">{texts.answer.verified}</span>
    </span>
  );
}
