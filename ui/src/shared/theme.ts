/** The look of the page, stored in this browser: the theme (light, dark or the system's) and how dense it is. */
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
export type Density = "comfortable" | "compact";

const KEY = "kai.theme";
const DENSITY = "kai.density";
const ORDER: Theme[] = ["system", "light", "dark"];
const dark = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(dark.matches);
dark.addEventListener("change", () => {
  systemIsDark.value = dark.matches;
});

export const theme = signal<Theme>(ORDER.find((each) => each === localStorage.getItem(KEY)) ?? "system");

/** The theme in effect, as the user or the system chose it. */
export function shownTheme(): "light" | "dark" {
  if (theme.value !== "system") return theme.value;
  return systemIsDark.value ? "dark" : "light";
}

export const density = signal<Density>(
  localStorage.getItem(DENSITY) === "compact" ? "compact" : "comfortable",
);

export function nextTheme(): void {
  chooseTheme(ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] ?? "system");
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  localStorage.setItem(KEY, chosen);
}

export function chooseDensity(chosen: Density): void {
  density.value = chosen;
  localStorage.setItem(DENSITY, chosen);
}

effect(() => {
  const { dataset } = document.documentElement;
  dataset.theme = theme.value;
  dataset.density = density.value;
});
