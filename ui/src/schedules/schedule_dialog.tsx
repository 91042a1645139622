import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Pin, Problem, Schedule } from "../api/types";
import { Dialog } from "../shared/dialog";
import { ProblemBox } from "../shared/problem_box";
import { say } from "../shared/toasts";
import { ScheduleForm } from "./schedule_form";
import { ScheduleRow, Secret } from "./schedule_row";
import { listSchedules } from "./schedules_api";
import { scheduleTexts } from "./texts";
import "./schedules.css";

interface Shown {
  title: string;
  boardId: string;
  /** Null: all pins of the board. */
  pin: Pin | null;
  onClose: () => void;
}

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
  return (
    <Dialog title={title} onClose={onClose}>
      <p class="quiet">{scheduleTexts.lead}</p>
      {problem && <ProblemBox problem={problem} />}
      {schedules?.length === 0 && <p class="quiet">{scheduleTexts.none}</p>}
      <ul class="schedule-list">
        {schedules?.map((each) => (
          <ScheduleRow key={each.id} schedule={each} pin={pin} onChange={() => void load()} />
        ))}
      </ul>
      {secret !== null && <Secret secret={secret} />}
      <ScheduleForm boardId={boardId} pin={pin} onSaved={added} />
    </Dialog>
  );
}
