import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { BoardWithPins, Problem, Schedule } from "../api/types";
import { readBoard } from "../boards/boards_api";
import { Blank } from "../shared/blank";
import { ProblemBox } from "../shared/problem_box";
import { onLinkClick } from "../shared/route";
import { texts } from "../shared/texts";
import { ScheduleRow } from "./schedule_row";
import { pageOfSchedules } from "./schedules_api";
import { scheduleTexts } from "./texts";
import "./schedules.css";

/** Null for a board that was deleted. */
async function boardOrNull(id: string): Promise<BoardWithPins | null> {
  try {
    return await readBoard(id);
  } catch (error) {
    if (asProblem(error).status === 404) return null;
    throw error;
  }
}

/** All schedules of the reader, newest first, with what each runs. */
export default function SchedulesPage() {
  const [schedules, setSchedules] = useState<Schedule[] | null>(null);
  const [boards, setBoards] = useState<ReadonlyMap<string, BoardWithPins>>(new Map());
  const [next, setNext] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const load = async (cursor?: string) => {
    setProblem(null);
    try {
      const page = await pageOfSchedules(cursor);
      const wanted = [...new Set(page.items.map((each) => each.board_id))].filter((id) => !boards.has(id));
      const found = (await Promise.all(wanted.map(boardOrNull))).filter((each) => each !== null);
      setBoards((before) => new Map([...before, ...found.map((each) => [each.id, each] as const)]));
      setSchedules((before) => [...(cursor === undefined ? [] : (before ?? [])), ...page.items]);
      setNext(page.next_cursor);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  useEffect(() => {
    document.title = `${texts.boards.schedules} · ${texts.product}`;
    void load();
  }, []);
  const change = (old: Schedule, changed: Schedule | null) =>
    setSchedules(
      (before) => before?.flatMap((each) => (each.id === old.id ? (changed ?? []) : each)) ?? null,
    );
  return (
    <div class="page">
      <header class="page-head">
        <div>
          <h1>{texts.boards.schedules}</h1>
          <p class="quiet">{scheduleTexts.lead}</p>
        </div>
      </header>
      {problem && <ProblemBox problem={problem} onRetry={() => void load()} />}
      {schedules === null && !problem && <p class="quiet">{texts.loading} …</p>}
      {schedules?.length === 0 && (
        <Blank title={scheduleTexts.noneAtAll} steps={scheduleTexts.noneSteps}>
          <a class="button primary" href="/boards" onClick={onLinkClick}>
            {texts.boards.title}
          </a>
        </Blank>
      )}
      <ul class="schedule-list">
        {schedules?.map((each) => {
          const board = boards.get(each.board_id);
          const pin = board?.pins.find(({ id }) => id === each.pin_id) ?? null;
          return (
            <ScheduleRow
              key={each.id}
              schedule={each}
              pin={pin}
              onChange={(changed) => change(each, changed)}
            >
              <a href={`/boards/${each.board_id}`} onClick={onLinkClick}>
                {board ? [board.title, pin?.title].filter(Boolean).join(" · ") : scheduleTexts.boardGone}
              </a>{" "}
            </ScheduleRow>
          );
        })}
      </ul>
      {next !== null && (
        <button type="button" class="button" onClick={() => void load(next)}>
          {scheduleTexts.more}
        </button>
      )}
    </div>
  );
}
