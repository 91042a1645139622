import { TriangleAlert } from "lucide";
import type { Cut } from "../../api/types";
import { Icon } from "../../shared/icon";
import { texts } from "../../shared/texts";
import "./rows.css";

/** Says that a limit of KAI cut the result. */
export function CutNotice({ by }: { by: Cut }) {
  return (
    <p class="truncated">
      <Icon of={TriangleAlert} size={14} /> {texts.rows.cut[by]}
    </p>
  );
}
