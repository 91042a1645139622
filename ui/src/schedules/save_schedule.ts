import type { Schedule } from "../api/types";
import { saveEdit } from "../shared/edits";
import { conditionOf, timesOf } from "./said";
import { changeSchedule, readSchedule, type ScheduleChange } from "./schedules_api";
import { targetTexts } from "./targets_texts";
import { scheduleTexts } from "./texts";

/** Saves changes of a schedule as it was shown. If another edit came first, the reader chooses. Returns the
 * schedule as it is then. */
export async function saveSchedule(schedule: Schedule, change: ScheduleChange): Promise<Schedule> {
  let stored = schedule;
  await saveEdit({
    version: schedule.version,
    send: async (version) => (stored = await changeSchedule(schedule.id, change, version)),
    read: async () => (stored = await readSchedule(schedule.id)),
    beside: (theirs) => {
      const mine = { ...theirs, ...change };
      return [
        { name: scheduleTexts.every, mine: timesOf(mine), theirs: timesOf(theirs) },
        { name: scheduleTexts.zone, mine: mine.time_zone, theirs: theirs.time_zone },
        {
          name: scheduleTexts.when,
          mine: conditionOf(mine.condition),
          theirs: conditionOf(theirs.condition),
        },
        {
          name: scheduleTexts.webhook,
          mine: change.webhook_url === undefined ? (theirs.webhook_host ?? "") : change.webhook_url,
          theirs: theirs.webhook_host ?? "",
        },
        {
          name: targetTexts.legend,
          mine: namesOf(change.targets ?? theirs.targets, schedule),
          theirs: namesOf(theirs.targets, schedule),
        },
      ];
    },
  });
  return stored;
}

/** The receivers of notices. Those that are kept have their labels in the schedule. */
function namesOf(
  targets: NonNullable<ScheduleChange["targets"]> | Schedule["targets"],
  of: Schedule,
): string {
  const labels = new Map(of.targets.map(({ id, label }) => [id, label]));
  return targets
    .map((each) => {
      if ("address" in each) return each.address;
      if ("url" in each) return each.url;
      return "label" in each ? each.label : (labels.get(each.id) ?? "");
    })
    .join(", ");
}
