import { Pause, Pencil, Play, Send, Trash2 } from "lucide";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Pin, Schedule } from "../api/types";
import { IconButton } from "../shared/icon_button";
import { orSay } from "../shared/or_say";
import { say } from "../shared/toasts";
import { ScheduleForm } from "./schedule_form";
import { changeSchedule, deleteSchedule, tryTargets } from "./schedules_api";
import { conditionOf, lastRunOf, nextOf, timesOf } from "./said";
import { targetTexts } from "./targets_texts";
import { scheduleTexts } from "./texts";
import "./schedules.css";

interface Shown {
  schedule: Schedule;
  /** Null for a board, and for a pin that is gone. */
  pin: Pin | null;
  /** What it runs, where that is not plain from the place. */
  children?: ComponentChildren;
  /** After each change; null if it was deleted. */
  onChange: (changed: Schedule | null) => void;
}

/** A schedule: its times, its next and its last run, and ways to change, pause and delete it. */
export function ScheduleRow({ schedule, pin, children, onChange }: Shown) {
  const [editing, edit] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const times = timesOf(schedule);
  const state = [
    schedule.paused && scheduleTexts.paused,
    schedule.running && scheduleTexts.running,
    schedule.next_at ? nextOf(schedule.next_at, schedule.time_zone) : schedule.time_zone,
    schedule.last_run && lastRunOf(schedule.last_run),
  ];
  const saved = (changed: Schedule) => {
    edit(false);
    setSecret(changed.webhook_secret);
    say(scheduleTexts.changed);
    onChange(changed);
  };
  const pause = async () => onChange(await changeSchedule(schedule.id, { paused: !schedule.paused }));
  const remove = async () => {
    await deleteSchedule(schedule.id);
    say(scheduleTexts.removed);
    onChange(null);
  };
  const labels = schedule.targets.map((each) => each.label).join(", ");
  const test = async () => {
    const tried = await tryTargets(schedule.id);
    const taken = tried.filter((each) => each.error === null).map((each) => each.label);
    if (taken.length > 0) say(targetTexts.tested(taken.join(", ")));
    for (const { label, error } of tried) if (error !== null) say(targetTexts.notDelivered(label, error));
  };
  return (
    <li>
      <span>
        {children}
        <strong>{[times, conditionOf(schedule.condition)].filter(Boolean).join(", ")}</strong>
        {schedule.webhook_host && ` ${scheduleTexts.sent(schedule.webhook_host)}`}
        {labels !== "" && ` ${targetTexts.sent(labels)}`}
        <span class="quiet schedule-state">{state.filter(Boolean).join(" · ")}</span>
      </span>
      <span class="schedule-actions">
        {labels !== "" && (
          <IconButton label={targetTexts.test(times)} icon={Send} size={15} onClick={() => orSay(test())} />
        )}
        <IconButton
          label={scheduleTexts.edit(times)}
          icon={Pencil}
          size={15}
          onClick={() => edit(!editing)}
        />
        <IconButton
          label={(schedule.paused ? scheduleTexts.resume : scheduleTexts.pause)(times)}
          icon={schedule.paused ? Play : Pause}
          size={15}
          onClick={() => orSay(pause())}
        />
        <IconButton
          label={scheduleTexts.remove(times)}
          icon={Trash2}
          size={15}
          onClick={() => orSay(remove())}
        />
      </span>
      {editing && <ScheduleForm boardId={schedule.board_id} pin={pin} schedule={schedule} onSaved={saved} />}
      {secret !== null && <Secret secret={secret} />}
    </li>
  );
}

/** The secret of a webhook, which is shown once. */
export function Secret({ secret }: { secret: string }) {
  return (
    <p class="schedule-secret" role="status">
      {scheduleTexts.secret} <code>{secret}</code>
    </p>
  );
}
