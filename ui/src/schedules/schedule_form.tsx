import { CalendarClock } from "lucide";
import { useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Pin, Problem, Schedule } from "../api/types";
import { Icon } from "../shared/icon";
import { locale } from "../shared/locale";
import { ProblemBox } from "../shared/problem_box";
import { readerZone } from "../shared/time";
import { saveSchedule } from "./save_schedule";
import { addSchedule } from "./schedules_api";
import { type NewTarget, TargetsField } from "./targets_field";
import { scheduleTexts } from "./texts";

const KINDS = ["above", "below", "changed", "no_rows"] as const;
const OWN = "own";
const DAILY: keyof typeof scheduleTexts.times = "0 8 * * *";

interface Shown {
  boardId: string;
  /** Null: all pins of the board. */
  pin: Pin | null;
  /** The schedule to change; none for a new one. */
  schedule?: Schedule;
  onSaved: (saved: Schedule) => void;
}

/** Asks for the times, the condition and the receivers of a schedule. */
export function ScheduleForm({ boardId, pin, schedule: shown, onSaved }: Shown) {
  const [schedule] = useState(shown); // the one that the fields are of, while others change it
  const [zone, setZone] = useState(schedule?.time_zone ?? readerZone());
  const condition = schedule?.condition ?? null;
  const usual = schedule !== undefined && schedule.cron in scheduleTexts.times;
  const columns = (pin?.columns ?? []).filter((each) => each.type === "integer" || each.type === "number");
  const [times, setTimes] = useState<string>(schedule ? (usual ? schedule.cron : OWN) : DAILY);
  const [cron, setCron] = useState(schedule?.cron ?? "0 8 * * 1-5");
  const [kind, setKind] = useState<(typeof KINDS)[number] | "">(condition?.kind ?? "");
  const [column, setColumn] = useState(condition?.column ?? columns[0]?.name ?? "");
  const [bound, setBound] = useState(String(condition?.value ?? 0));
  const [webhook, setWebhook] = useState("");
  const [targets, setTargets] = useState<NewTarget[]>();
  const [problem, setProblem] = useState<Problem | null>(null);
  const comparesCell = kind !== "" && kind !== "no_rows";
  const wanted = () => {
    if (kind === "") return null;
    return comparesCell ? { kind, column, value: Number(bound) } : { kind, column: null, value: null };
  };
  const submit = (event: Event) => {
    event.preventDefault();
    setProblem(null);
    const when = { cron: times === OWN ? cron : times, time_zone: zone.trim() };
    const how = { ...(pin && { condition: wanted() }), ...(webhook !== "" && { webhook_url: webhook }) };
    const whom = targets && ({ targets, language: locale.startsWith("de") ? "de" : "en" } as const);
    const change = { ...when, ...how, ...whom };
    const saved = schedule
      ? saveSchedule(schedule, change)
      : addSchedule({ board_id: boardId, pin_id: pin?.id ?? null, ...change });
    saved.then(onSaved, (error: unknown) => setProblem(asProblem(error)));
  };
  return (
    <form class="form" onSubmit={submit}>
      <label>
        {scheduleTexts.every}
        <select value={times} onChange={(event) => setTimes(event.currentTarget.value)}>
          {Object.entries(scheduleTexts.times).map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
          <option value={OWN}>{scheduleTexts.own}</option>
        </select>
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
      <label>
        {scheduleTexts.zone}
        <input required maxLength={60} value={zone} onInput={(event) => setZone(event.currentTarget.value)} />
      </label>
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
          placeholder={schedule?.webhook_host ? scheduleTexts.kept(schedule.webhook_host) : "https://"}
          value={webhook}
          onInput={(event) => setWebhook(event.currentTarget.value)}
        />
      </label>
      <TargetsField kept={schedule?.targets ?? []} onChange={setTargets} />
      {problem && <ProblemBox problem={problem} />}
      <button type="submit" class="button primary">
        <Icon of={CalendarClock} /> {schedule ? scheduleTexts.save : scheduleTexts.add}
      </button>
    </form>
  );
}
