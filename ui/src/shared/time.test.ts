import { expect, test } from "vitest";
import { texts } from "./texts";
import { dateText, daysText, duration, groupOf } from "./time";

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

test("a date has one form at every grain, in its own time zone", () => {
  const time = "2026-11-24T23:05:30Z";
  const forms = ["day", "dayOfYear", "month", "longMonth", "weekday", "time", "moment", "second"] as const;
  expect(forms.map((form) => dateText(time, form, "UTC"))).toEqual([
    "24 Nov 2026",
    "24 Nov",
    "Nov 2026",
    "November 2026",
    "Tuesday",
    "23:05",
    "24 Nov 2026, 23:05",
    "24 Nov 2026, 23:05:30",
  ]);
  expect(dateText(time, "moment", "Europe/Berlin")).toBe("25 Nov 2026, 00:05");
  expect(daysText(new Date(2026, 9, 28), new Date(2026, 10, 24), "day")).toMatch(/^28 Oct\s–\s24 Nov 2026$/);
});

test("sessions are grouped by calendar days", () => {
  const now = new Date(2026, 2, 10, 0, 30);
  const group = (day: number, hour: number) => groupOf(new Date(2026, 2, day, hour).toISOString(), now);
  const { today, yesterday, week, month } = texts.sessions.groups;
  expect([group(10, 0), group(9, 23), group(5, 12), group(-15, 12)]).toEqual([today, yesterday, week, month]);
});
