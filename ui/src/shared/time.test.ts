import { expect, test } from "vitest";
import { texts } from "./texts";
import { duration, groupOf } from "./time";

test.each([
  [42, "42 ms"],
  [420, "0.4 s"],
  [12_400, "12 s"],
  [59_700, "1 min 0 s"],
  [125_000, "2 min 5 s"],
  [1_799_900, "30 min 0 s"],
])("%d ms are %s", (milliseconds, words) => {
  expect(duration(milliseconds)).toBe(words);
});

test("sessions are grouped by calendar days", () => {
  const now = new Date(2026, 2, 10, 0, 30);
  const group = (day: number, hour: number) => groupOf(new Date(2026, 2, day, hour).toISOString(), now);
  const { today, yesterday, week, month } = texts.sessions.groups;
  expect([group(10, 0), group(9, 23), group(5, 12), group(-15, 12)]).toEqual([today, yesterday, week, month]);
});
