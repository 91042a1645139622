import { Wrench } from "lucide";
import { Icon } from "../shared/icon";
import { texts } from "../shared/texts";

/** Whether KAI only reads or may act. */
export function ModeTag({ mode }: { mode: "ask" | "agent" }) {
  return (
    <span class="mode-tag" title={mode === "ask" ? texts.composer.modeHint : undefined}>
      {mode === "agent" && <Icon of={Wrench} size={13} />}
      {mode === "ask" ? texts.composer.onlyReads : texts.composer.mode.agent}
    </span>
  );
}
