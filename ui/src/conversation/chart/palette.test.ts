import { expect, test } from "vitest";
import { MANY_SERIES, SERIES_COLORS, seriesDash, SURFACES } from "./palette";

type Triple = [number, number, number];
type Matrix = [Triple, Triple, Triple];

/** Machado, Oliveira and Fernandes (2009), severity 1.0, for linear RGB. */
const VISIONS: Record<string, Matrix> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
};
const TO_XYZ: Matrix = [
  [0.4124564, 0.3575761, 0.1804375],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339, 0.119192, 0.9503041],
];
const WHITE: Triple = [0.95047, 1, 1.08883];

function linear(hex: string): Triple {
  const channel = (at: number) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

function times(matrix: Matrix, [a, b, c]: Triple): Triple {
  return matrix.map(([x, y, z]) => x * a + y * b + z * c) as Triple;
}

function contrast(one: string, other: string): number {
  const [low, high] = [one, other].map((hex) => times(TO_XYZ, linear(hex))[1]).sort((a, b) => a - b) as [
    number,
    number,
  ];
  return (high + 0.05) / (low + 0.05);
}

function lab(rgb: Triple): Triple {
  const [x, y, z] = times(TO_XYZ, rgb).map((value, at) => {
    const part = value / (WHITE[at] ?? 1);
    return part > 216 / 24389 ? Math.cbrt(part) : ((24389 / 27) * part + 16) / 116;
  }) as Triple;
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function difference(one: string, other: string, vision: Matrix): number {
  const seen = (hex: string) =>
    lab(times(vision, linear(hex)).map((each) => Math.min(1, Math.max(0, each))) as Triple);
  const [a, b] = [seen(one), seen(other)];
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

test("the measures are those of the literature", () => {
  expect(contrast("#ffffff", "#000000")).toBeCloseTo(21);
  expect(difference("#c8553d", "#7a9e3f", VISIONS.deuteranopia as Matrix)).toBeCloseTo(6.1, 1);
});

test.each(Object.entries(SURFACES))("every colour has a contrast of 3:1 on the %s surface", (_, surface) => {
  for (const color of SERIES_COLORS) expect(contrast(color, surface), color).toBeGreaterThanOrEqual(3);
});

test.each(Object.entries(VISIONS))("any two colours differ by 12 for %s", (_, vision) => {
  for (const [at, one] of SERIES_COLORS.entries())
    for (const other of SERIES_COLORS.slice(at + 1))
      expect(difference(one, other, vision), `${one} ${other}`).toBeGreaterThanOrEqual(12);
});

test("from five series on, each line has dashes of its own", () => {
  expect(seriesDash(3, MANY_SERIES - 1)).toBe("");
  const dashes = SERIES_COLORS.map((_, at) => seriesDash(at, SERIES_COLORS.length));
  expect(new Set(dashes).size).toBe(SERIES_COLORS.length);
});
