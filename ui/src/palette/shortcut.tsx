import { useEffect, useState } from "preact/hooks";
import { lazy } from "../shared/lazy";

const Palette = lazy(() => import("./palette"));

/** Opens the palette by Ctrl-K or Command-K. */
export function PaletteShortcut() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setOpen(true);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return open ? <Palette onClose={() => setOpen(false)} /> : null;
}
