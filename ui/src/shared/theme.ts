/** The theme: light, dark or the system's; stored in this browser. */
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "kai.theme";
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

export function nextTheme(): void {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] ?? "system";
  localStorage.setItem(KEY, theme.value);
}

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});
