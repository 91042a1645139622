import { Eye, Wrench } from "lucide";
import { Menu } from "../shared/menu";
import { orSay } from "../shared/or_say";
import { texts } from "../shared/texts";
import type { Conversation } from "./conversation";
import { investigates } from "../shared/capability";
import { ModeTag } from "./mode_tag";

/** What questions of this session may do, beside the field for them. Fixed where KAI does not investigate. */
export function ModeSwitch({ conversation }: { conversation: Conversation }) {
  const mode = conversation.session.value?.mode;
  if (mode === undefined) return null;
  if (!investigates.value) return <ModeTag mode={mode} />;
  const { mode: names, changeMode, modeLeads } = texts.composer;
  return (
    <div class="mode-switch" title={modeLeads[mode]}>
      <Menu
        icon={mode === "ask" ? Eye : Wrench}
        label={changeMode(names[mode])}
        text={names[mode]}
        items={[
          { icon: Eye, label: names.ask, onSelect: () => orSay(conversation.setMode("ask")) },
          { icon: Wrench, label: names.agent, onSelect: () => orSay(conversation.setMode("agent")) },
        ]}
      />
    </div>
  );
}

/** Says above the field what agent mode means, as calls then may change things. */
export function ModeLead({ conversation }: { conversation: Conversation }) {
  if (conversation.session.value?.mode !== "agent") return null;
  return <p class="mode-lead">{texts.composer.modeLeads.agent}</p>;
}
