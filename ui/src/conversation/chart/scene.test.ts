import { expect, test } from "vitest";
import { drawingHeight, heightIn } from "./height";
import { type Chart, type Datum, type Kind, type Mark, MARKS, PLAIN_NUMBERS } from "./intent";
import { FONT_SIZE, textWidth } from "./letters";
import type { ChartColors } from "./look";
import { type Node, written } from "./nodes";
import { pictureOf, sceneOf } from "./scene";
import type { Scene } from "./drawing";
import { summaryOf } from "./summary";

const THEMES: Record<string, ChartColors> = {
  light: { ink: "#1b1f23", muted: "#5b636b", line: "#e3e3dd", accent: "#0f8b8d", surface: "#ffffff" },
  dark: { ink: "#e8eaec", muted: "#a0a8b0", line: "#2d3237", accent: "#3fb5b0", surface: "#1b1e21" },
};
const LIGHT = THEMES.light as ChartColors;
const WIDTHS = [320, 390, 480, 640, 778, 1024, 1440];

interface Made {
  mark: Mark;
  kind?: Kind;
  places: (string | number)[];
  series?: string[];
  value?: (place: number, series: number) => number | null;
}

function made({
  mark,
  kind = "nominal",
  places,
  series = [],
  value = (place, at) => 10 * (place + 1) + at,
}: Made): Chart {
  const names = series.length > 0 ? series : [null];
  const data: Datum[] = places.flatMap((place, at) =>
    names.map((name, index) => ({ c0: place, c1: value(at, index), c2: name, c3: at % 7 })),
  );
  return {
    mark,
    across: { field: "c0", kind, title: "month" },
    value: { field: "c1", kind: "quantitative", title: "revenue" },
    series: series.length > 0 ? { field: "c2", kind: "nominal", title: "segment" } : null,
    second: mark === "combo" ? { field: "c3", kind: "quantitative", title: "returns" } : null,
    adds: true,
    how: "",
    rows: data.length,
    data,
    computed: false,
    covered: null,
    heading: "Revenue by month",
    numbers: PLAIN_NUMBERS,
  };
}

function days(count: number, first = "2024-11-21"): string[] {
  const start = Date.parse(first);
  return Array.from({ length: count }, (_, at) =>
    new Date(start + at * 86_400_000).toISOString().slice(0, 10),
  );
}

function months(count: number): string[] {
  return Array.from({ length: count }, (_, at) => new Date(Date.UTC(2024, at)).toISOString().slice(0, 10));
}

function drawn(chart: Chart, width = 778): Scene {
  const height = drawingHeight(chart);
  return sceneOf(chart, { width, height, colors: LIGHT, hidden: new Set(), direct: true });
}

function all(nodes: Node[], tag: string): Node[] {
  return nodes.flatMap((each) => [
    ...(each.tag === tag ? [each] : []),
    ...all(
      each.children.filter((child) => typeof child !== "string"),
      tag,
    ),
  ]);
}

const SEGMENTS = ["consumer", "business", "club"];
const MANY = ["north", "south", "east", "west", "overseas", "unassigned", "partners"];
const NAMES = ["Norway", "Brazil", "United Kingdom of Great Britain", "Österreich", "中华人民共和国", "x"];
const GOLDEN: Record<Mark, Chart> = {
  bar: made({ mark: "bar", places: NAMES }),
  stacked: made({ mark: "stacked", places: NAMES, series: SEGMENTS }),
  percent: made({ mark: "percent", places: NAMES, series: SEGMENTS }),
  line: made({ mark: "line", kind: "temporal", places: months(23), series: SEGMENTS }),
  area: made({ mark: "area", kind: "temporal", places: months(23), series: MANY }),
  point: made({ mark: "point", kind: "quantitative", places: [1, 4, 9, 16, 25, 36], series: MANY }),
  arc: made({ mark: "arc", places: NAMES }),
  histogram: made({
    mark: "histogram",
    kind: "ordinal",
    places: ["0 – 10", "10 – 20", "20 – 30", "30 – 40"],
  }),
  heat: made({ mark: "heat", places: ["Mon", "Tue", "Wed"], series: MANY }),
  combo: made({ mark: "combo", kind: "temporal", places: months(12) }),
};

for (const [theme, colors] of Object.entries(THEMES))
  test.each(MARKS)(`%s is drawn as before in the ${theme} theme`, async (mark) => {
    const chart = GOLDEN[mark];
    const setting = {
      width: 640,
      height: drawingHeight(chart),
      colors,
      hidden: new Set<string>(),
      direct: true,
    };
    const picture = written(pictureOf(chart, `${chart.rows} rows, all drawn`, setting));
    await expect(`${picture.replaceAll("><", ">\n<")}\n`).toMatchFileSnapshot(`golden/${mark}-${theme}.svg`);
  });

const BIG = (place: number) => 6_000_000 + place * 123_456;
const SPECS: Chart[] = [
  ...Object.values(GOLDEN),
  ...[2, 3, 12, 31, 90, 366, 731, 2_000].flatMap((count) => [
    made({ mark: "line", kind: "temporal", places: days(count), value: BIG }),
    made({ mark: "bar", kind: "temporal", places: days(count) }),
  ]),
  ...[2, 10, 40, 200].map((count) =>
    made({ mark: "area", kind: "temporal", places: months(count), value: BIG }),
  ),
  ...[2, 7, 24, 49, 300].map((count) =>
    made({
      mark: "bar",
      places: Array.from({ length: count }, (_, at) => `A rather long name ${at}`),
      value: BIG,
    }),
  ),
  made({ mark: "bar", places: ["a", "b"], value: (at) => (at ? -6_000_000.5 : 7_000_000.25) }),
  made({ mark: "bar", kind: "ordinal", places: months(36).map((month) => month.slice(0, 7)), value: BIG }),
  made({ mark: "stacked", kind: "temporal", places: months(24), series: MANY, value: BIG }),
  made({ mark: "point", kind: "quantitative", places: [0.00001, 0.00002, 0.00003], value: (at) => at / 1e7 }),
  made({ mark: "point", kind: "quantitative", places: [1e9, 2e12, 3e12], value: (at) => at * 1e12 }),
  made({ mark: "line", kind: "temporal", places: ["2024-01-01T00:30:00", "2024-01-01T23:59:59"] }),
  made({ mark: "line", kind: "temporal", places: ["2024-01-01 00:30:00", "2024-01-05 23:59:59"] }),
  made({ mark: "line", kind: "temporal", places: ["1825-01-01", "2024-01-01"] }),
  made({ mark: "line", kind: "temporal", places: ["2024-01-01", "2024-01-02"], value: () => null }),
  made({ mark: "line", kind: "ordinal", places: ["W", "iiii", "中华人民共和国中华人民共和国"] }),
];

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
  text: string;
}

/** Boxes of text in the same way as the tests in Chromium find them to be: letters as wide or narrower. */
function boxes(scene: Scene): Box[] {
  return all(scene.nodes, "text").map(({ attributes, children }) => {
    const text = children.find((child) => typeof child === "string") ?? "";
    const wide = textWidth(text, Number(attributes["font-size"]));
    const x = Number(attributes.x);
    const anchor = attributes["text-anchor"];
    const left = anchor === "middle" ? x - wide / 2 : anchor === "end" ? x - wide : x;
    const y = Number(attributes.y);
    return { left, right: left + wide, top: y - FONT_SIZE * 0.75, bottom: y + 2, text };
  });
}

test("there are at least forty charts to try", () => expect(SPECS.length).toBeGreaterThanOrEqual(40));

test.each(WIDTHS)("no text overlaps another or leaves the drawing at %i pixels", (width) => {
  for (const [at, chart] of SPECS.entries()) {
    const scene = drawn(chart, width);
    const found = boxes(scene);
    const where = `${chart.mark} ${at} at ${width}`;
    for (const [index, one] of found.entries()) {
      expect(one.left, `${where}: ${one.text}`).toBeGreaterThanOrEqual(-1);
      expect(one.right, `${where}: ${one.text}`).toBeLessThanOrEqual(width + 1);
      for (const other of found.slice(index + 1)) {
        const apart =
          one.right <= other.left ||
          other.right <= one.left ||
          one.bottom <= other.top ||
          other.bottom <= one.top;
        expect(apart, `${where}: ${one.text} / ${other.text}`).toBe(true);
      }
    }
  }
});

test("two years of days have every day as a stop, and the axis names the years", () => {
  const scene = drawn(made({ mark: "line", kind: "temporal", places: days(731) }));
  expect(scene.stops).toHaveLength(731);
  expect(scene.stops[0]?.name).toBe("Thu 21 Nov 2024");
  const texts = boxes(scene).map((box) => box.text);
  expect(texts.filter((text) => text.endsWith("2025")).length).toBeGreaterThan(2);
  expect(texts.filter((text) => text.endsWith("2026")).length).toBeGreaterThan(2);
});

test("up to six lines are named beside their ends, more in a legend", () => {
  expect(drawn(GOLDEN.line).legend).toEqual([]);
  expect(drawn(GOLDEN.area).legend.map((each) => each.name)).toEqual(MANY);
  expect(drawn(GOLDEN.line, 390).legend).toHaveLength(3);
});

test("what a reader hides is not drawn, and the other colours stay", () => {
  const chart = GOLDEN.area;
  const height = drawingHeight(chart);
  const scene = sceneOf(chart, {
    width: 640,
    height,
    colors: LIGHT,
    hidden: new Set(["north"]),
    direct: true,
  });
  expect(scene.stops[0]?.entries.map((entry) => entry.name).sort()).toEqual(MANY.slice(1).sort());
  expect(scene.legend[1]).toEqual(drawn(chart, 640).legend[1]);
});

test("a gap breaks a line and is said to be one", () => {
  const chart = made({
    mark: "line",
    kind: "temporal",
    places: days(5),
    value: (at) => (at === 2 ? null : at),
  });
  const scene = drawn(chart);
  const path = all(scene.nodes, "path")[0];
  expect(String(path?.attributes.d).match(/M/g)).toHaveLength(2);
  expect(scene.stops[2]?.entries[0]?.text).toBe("–");
});

test("shares of a place add up to one", () => {
  const scene = drawn(GOLDEN.percent);
  const widths = all(scene.nodes, "rect").map((bar) => Number(bar.attributes.width));
  const first = widths.slice(0, 3).reduce((sum, each) => sum + each, 0);
  const second = widths.slice(3, 6).reduce((sum, each) => sum + each, 0);
  expect(first).toBeCloseTo(second, 1);
});

test("names of the data stay text", () => {
  const hostile = `<script>alert(1)</script>"'&\u0000`;
  const chart = { ...made({ mark: "line", places: [hostile, "b"], series: [hostile] }), heading: hostile };
  const setting = { width: 640, height: 300, colors: LIGHT, hidden: new Set<string>(), direct: true };
  const picture = written(pictureOf(chart, hostile, setting));
  expect(picture).not.toMatch(/<script|\p{Cc}/u);
  expect(picture).toContain("&lt;script&gt;");
});

test("a sentence names the lowest, the highest and the trend", () => {
  const rising = made({ mark: "line", kind: "temporal", places: months(12) });
  expect(summaryOf(rising)).toBe("Lowest 10 (Jan 2024), highest 120 (Dec 2024). It rises.");
  expect(summaryOf(GOLDEN.stacked)).toBe("Lowest 10 (consumer, Norway), highest 62 (club, x).");
  expect(summaryOf(made({ mark: "line", kind: "temporal", places: days(9), value: () => 4 }))).toMatch(
    /level\.$/,
  );
});

test("bars take the room of a tile down to the height of their names, and keep their axis below", () => {
  const chart = made({ mark: "bar", places: Array.from({ length: 12 }, (_, at) => `place ${at}`) });
  expect(heightIn(chart, 1_000)).toBe(drawingHeight(chart));
  expect(heightIn(chart, 300)).toBe(300);
  const height = heightIn(chart, 100);
  expect(height).toBe(12 * 16 + 50);
  const { foot, nodes } = sceneOf(chart, {
    width: 300,
    height,
    colors: LIGHT,
    hidden: new Set(),
    direct: true,
  });
  expect(foot?.map((each) => each.children[0])).toContain("100");
  expect(foot?.every((each) => nodes.includes(each))).toBe(true);
  expect(heightIn(made({ mark: "line", kind: "temporal", places: days(3) }), 100)).toBe(100);
});
