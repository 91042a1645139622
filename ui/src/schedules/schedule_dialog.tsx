import { CalendarClock, type IconNode, Pause, Play, Trash2 } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Pin, Problem, Schedule } from "../api/types";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/icon";
import { orSay } from "../shared/or_say";
import { ProblemBox } from "../shared/problem_box";
import { moment } from "../shared/time";
import { say } from "../shared/toasts";
import { addSchedule, deleteSchedule, listSchedules, pauseSchedule } from "./schedules_api";
import { conditionOf, lastRunOf, scheduleTexts, timesOf } from "./texts";
import "./schedules.css";

interface Shown {
  title: string;
  boardId: string;
  /** Null: all pins of the board. */
  pin: Pin | null;
  onClose: () => void;
}

const KINDS = ["above", "below", "changed", "no_rows"] as const;
const OWN = "own";

/** The schedules of a pin or a board, and a form for another. */
export default function ScheduleDialog({ title, boardId, pin, onClose }: Shown) {
  const [schedules, setSchedules] = useState<Schedule[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const load = () => {
    setProblem(null);
    const found = listSchedules(boardId, pin?.id ?? null);
    return found.then(setSchedules, (error: unknown) => setProblem(asProblem(error)));
  };
  useEffect(() => void load(), []);
  const added = (made: Schedule) => {
    setSecret(made.webhook_secret);
    say(scheduleTexts.added);
    void load();
  };
  const pause = async (schedule: Schedule) => {
    await pauseSchedule(schedule.id, !schedule.paused);
    await load();
  };
  const remove = async (schedule: Schedule) => {
    await deleteSchedule(schedule.id);
    say(scheduleTexts.removed);
    await load();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p class="quiet">{scheduleTexts.lead}</p>
      {problem && <ProblemBox problem={problem} />}
      {schedules?.length === 0 && <p class="quiet">{scheduleTexts.none}</p>}
      <ul class="schedule-list">
        {schedules?.map((each) => (
          <li key={each.id}>
            <span>
              <strong>{[timesOf(each), conditionOf(each.condition)].filter(Boolean).join(", ")}</strong>
              {each.webhook_host && ` ${scheduleTexts.sent(each.webhook_host)}`}
              <span class="quiet schedule-state">
                {[
                  each.time_zone,
                  each.paused && scheduleTexts.paused,
                  each.running && scheduleTexts.running,
                  each.next_at && scheduleTexts.next(moment(each.next_at)),
                  each.last_run && lastRunOf(each.last_run),
                ]
                  .filter(Boolean)
                  .join(" · ")}
              </span>
            </span>
            <span class="schedule-actions">
              <Action
                label={(each.paused ? scheduleTexts.resume : scheduleTexts.pause)(timesOf(each))}
                icon={each.paused ? Play : Pause}
                act={() => pause(each)}
              />
              <Action label={scheduleTexts.remove(timesOf(each))} icon={Trash2} act={() => remove(each)} />
            </span>
          </li>
        ))}
      </ul>
      {secret !== null && (
        <p class="schedule-secret" role="status">
          {scheduleTexts.secret} <code>{secret}</code>
        </p>
      )}
      <NewSchedule boardId={boardId} pin={pin} onAdded={added} />
    </Dialog>
  );
}

function Action({ label, icon, act }: { label: string; icon: IconNode; act: () => Promise<void> }) {
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={() => orSay(act())}>
      <Icon of={icon} size={15} />
    </button>
  );
}

function NewSchedule({
  boardId,
  pin,
  onAdded,
}: Pick<Shown, "boardId" | "pin"> & { onAdded: (made: Schedule) => void }) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const columns = (pin?.columns ?? []).filter((each) => each.type === "integer" || each.type === "number");
  const [times, setTimes] = useState(scheduleTexts.times[1]?.cron ?? "");
  const [cron, setCron] = useState("0 8 * * 1-5");
  const [kind, setKind] = useState<(typeof KINDS)[number] | "">("");
  const [column, setColumn] = useState(columns[0]?.name ?? "");
  const [bound, setBound] = useState("0");
  const [webhook, setWebhook] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const comparesCell = kind !== "" && kind !== "no_rows";
  const wanted = () => {
    if (kind === "") return null;
    return comparesCell ? { kind, column, value: Number(bound) } : { kind, column: null, value: null };
  };
  const submit = (event: Event) => {
    event.preventDefault();
    setProblem(null);
    const made = addSchedule({
      board_id: boardId,
      pin_id: pin?.id ?? null,
      cron: times === OWN ? cron : times,
      time_zone: zone,
      condition: wanted(),
      ...(webhook === "" ? {} : { webhook_url: webhook }),
    });
    made.then(onAdded, (error: unknown) => setProblem(asProblem(error)));
  };
  return (
    <form class="form" onSubmit={submit}>
      <label>
        {scheduleTexts.every}
        <select value={times} onChange={(event) => setTimes(event.currentTarget.value)}>
          {scheduleTexts.times.map((each) => (
            <option key={each.cron} value={each.cron}>
              {each.label}
            </option>
          ))}
          <option value={OWN}>{scheduleTexts.own}</option>
        </select>
        <span class="quiet">{scheduleTexts.zone(zone)}</span>
      </label>
      {times === OWN && (
        <label>
          {scheduleTexts.cron}
          <input
            required
            maxLength={100}
            value={cron}
            onInput={(event) => setCron(event.currentTarget.value)}
          />
        </label>
      )}
      {pin && (
        <label>
          {scheduleTexts.when}
          <select value={kind} onChange={(event) => setKind(event.currentTarget.value as typeof kind)}>
            <option value="">{scheduleTexts.always}</option>
            {KINDS.filter((each) => each === "no_rows" || columns.length > 0).map((each) => (
              <option key={each} value={each}>
                {scheduleTexts.kinds[each]}
              </option>
            ))}
          </select>
        </label>
      )}
      {comparesCell && (
        <>
          <label>
            {scheduleTexts.bound}
            <input
              required
              type="number"
              step="any"
              value={bound}
              onInput={(event) => setBound(event.currentTarget.value)}
            />
          </label>
          <label>
            {scheduleTexts.column}
            <select value={column} onChange={(event) => setColumn(event.currentTarget.value)}>
              {columns.map((each) => (
                <option key={each.name} value={each.name}>
                  {each.name}
                </option>
              ))}
            </select>
          </label>
        </>
      )}
      <label>
        {scheduleTexts.webhook}
        <input
          type="url"
          maxLength={2000}
          placeholder="https://"
          value={webhook}
          onInput={(event) => setWebhook(event.currentTarget.value)}
        />
      </label>
      {problem && <ProblemBox problem={problem} />}
      <button type="submit" class="button primary">
        <Icon of={CalendarClock} /> {scheduleTexts.add}
      </button>
    </form>
  );
}
