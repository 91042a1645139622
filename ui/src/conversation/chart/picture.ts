/** A chart as a file, with its title, its notes and its legend inside. */
import type { Theme } from "./runtime";
import { fitted, FULL_WIDTH, heightOf, recordOf, type Spec } from "./spec";

export type FileFormat = "png" | "svg" | "json";

const SCALE = 2;
const PADDING = 16;

interface Asked {
  format: FileFormat;
  theme: Theme;
  /** Colour of the ground. */
  background: string;
  /** Used where the specification has no title. */
  title: string;
}

/** PNG is at twice the screen's resolution; JSON is the specification with its data. */
export async function pictureFile(spec: Spec, { format, theme, background, title }: Asked): Promise<Blob> {
  const { draw, withShapes } = await import("./runtime");
  if (format === "json") {
    const text = JSON.stringify(await withShapes(spec), null, 2);
    return new Blob([text], { type: "application/vnd.vegalite.v6+json" });
  }
  const named = { title: { text: title }, ...titleOf(spec), background, padding: PADDING };
  const size = { width: FULL_WIDTH, height: heightOf(spec, false) };
  const view = await draw({ ...fitted(spec, size), ...named, autosize: "pad" }, theme);
  try {
    return format === "svg" ? await svgOf(view) : await pngOf(view);
  } finally {
    view.finalize();
  }
}

type View = Awaited<ReturnType<typeof import("./runtime").draw>>;

async function svgOf(view: View): Promise<Blob> {
  return new Blob([await view.toSVG()], { type: "image/svg+xml" });
}

async function pngOf(view: View): Promise<Blob> {
  const canvas = await view.toCanvas(SCALE);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"),
  );
}

function titleOf({ title }: Spec): Spec {
  const isNamed = typeof title === "string" ? title !== "" : recordOf(title).text !== undefined;
  return isNamed ? { title } : {};
}
