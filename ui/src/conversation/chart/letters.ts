/** The width of text, estimated from the letters of Inter: the same in a browser and in a test. */

export const FONT = "Inter Variable, Inter, system-ui, sans-serif";
export const FONT_SIZE = 12;

const EM: [RegExp, number][] = [
  [/[ilj.,:;'|!I]/, 0.3],
  [/[ ()[\]{}ftr/\\"-]/, 0.4],
  [/[mwMW@%…—]/, 0.95],
  [/[A-Z0-9&]/, 0.68],
  [/[\u0020-\u024f]/, 0.6],
];

export function textWidth(text: string, size = FONT_SIZE): number {
  let em = 0;
  for (const letter of text) em += EM.find(([letters]) => letters.test(letter))?.[1] ?? 1.05;
  return em * size;
}

/** The text, with an ellipsis where it is wider than `most` pixels. */
export function cut(text: string, most: number, size = FONT_SIZE): string {
  if (textWidth(text, size) <= most) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && textWidth(`${letters.join("")}…`, size) > most) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}

/** The text in lines of at most `most` pixels. */
export function lines(text: string, most: number, size = FONT_SIZE): string[] {
  const found: string[] = [];
  for (const word of text.split(" ").filter(Boolean)) {
    const last = found.at(-1);
    if (last !== undefined && textWidth(`${last} ${word}`, size) <= most)
      found.splice(-1, 1, `${last} ${word}`);
    else found.push(word);
  }
  return found.map((line) => cut(line, most, size));
}
