/** The one figure of a headline. */

const NUMBER = /[-−+]?[€$£¥]?\d[\d.,’\u00a0\u202f]*\d?(?:[\u00a0\u202f ]?[%€$£¥])?/gu;
const YEAR = /^(?:19|20)\d\d$/;

/** The headline with its figure in emphasis: that of its source, or else a share or change, or else the last. */
export function withFigure(headline: string, value: string | null): string {
  const found = [...headline.matchAll(NUMBER)].filter(([number]) => !YEAR.test(number));
  const figure =
    found.find(([number]) => number === value) ??
    found.find(([number]) => number.includes("%")) ??
    found.at(-1);
  if (!figure) return headline;
  const end = figure.index + figure[0].length;
  return `${headline.slice(0, figure.index)}*${figure[0]}*${headline.slice(end)}`;
}
