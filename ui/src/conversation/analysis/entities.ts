/** The entities that prose has; others are shown as they are written. */
const NAMED: Record<string, string> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00A0", colon: ":" },
  ...{ ndash: "–", mdash: "—", hellip: "…", bull: "•", middot: "·", deg: "°", sect: "§" },
  ...{ euro: "€", pound: "£", yen: "¥", cent: "¢", copy: "©", reg: "®", trade: "™" },
  ...{ times: "×", divide: "÷", minus: "−", plusmn: "±", le: "≤", ge: "≥", ne: "≠", asymp: "≈" },
  ...{ larr: "←", uarr: "↑", rarr: "→", darr: "↓", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”" },
};
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi;
const LAST = 0x10ffff;

export function decoded(text: string): string {
  return text.replace(ENTITY, (raw, decimal?: string, hexadecimal?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? raw) : raw;
    const code = decimal === undefined ? parseInt(hexadecimal ?? "", 16) : Number(decimal);
    return code > 0 && code <= LAST ? String.fromCodePoint(code) : "\uFFFD";
  });
}
