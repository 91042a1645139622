import { Eye, Wrench } from "lucide";
import { Icon } from "../shared/icon";
import { texts } from "../shared/texts";

/** Whether KAI only reads or may act. */
export function ModeTag({ mode }: { mode: "ask" | "agent" }) {
  return (
    <span class="mode-tag" title={mode === "ask" ? texts.composer.modeHint : undefined}>
      <Icon of={mode === "ask" ? Eye : Wrench} size={13} /> {texts.composer.mode[mode]}
    </span>
  );
}
