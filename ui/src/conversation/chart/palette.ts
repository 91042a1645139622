/**
 * The colours of series. Each has a contrast of at least 3:1 to the light and to the dark surface, and any two
 * differ by at least 12 (CIELAB) with normal vision, deuteranopia and protanopia; `palette.test.ts` computes it.
 * The last one, nearly grey, is that of the others behind the eight highest.
 */
export const SERIES_COLORS = [
  "#0f8b8d",
  "#c05926",
  "#7761e0",
  "#838fce",
  "#21a64d",
  "#a55057",
  "#d62e82",
  "#a441a4",
  "#90987c",
] as const;

/** The surfaces of charts, as `tokens.css` has them. */
export const SURFACES = { light: "#ffffff", dark: "#1b1e21" } as const;

/** With this many series or more, dashes and shapes tell them apart, too. */
export const MANY_SERIES = 5;

const DASHES = ["", "6 3", "2 3", "8 3 2 3", "12 4", "4 2 1 2 1 2", "1 2", "10 2 4 2", "3 4"];

export function seriesColor(at: number): string {
  return SERIES_COLORS[at % SERIES_COLORS.length] ?? SERIES_COLORS[0];
}

/** The dashes of a series' line; empty for a solid one. */
export function seriesDash(at: number, count: number): string {
  return count < MANY_SERIES ? "" : (DASHES[at % DASHES.length] ?? "");
}
