/** A chart as a file. */
import { written } from "./nodes";
import type { Node } from "./nodes";

const SCALE = 2;

/** The drawing as SVG, or as PNG at twice the screen's resolution. */
export async function picture(drawing: Node, format: "png" | "svg"): Promise<Blob> {
  const text = written(drawing);
  if (format === "svg") return new Blob([text], { type: "image/svg+xml" });
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Number(drawing.attributes.width) * SCALE;
  canvas.height = Number(drawing.attributes.height) * SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png");
  });
}
