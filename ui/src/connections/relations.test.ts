import { expect, test } from "vitest";
import type { Table } from "../api/types";
import { type Box, MOST_TABLES, pictureOf, relationsOf } from "./relations";

type Keys = Record<string, string>;

/** A table with a key `id`, and a column for each foreign key to another table's `id`. */
function table(name: string, refers: Keys = {}): Table {
  const column = (column: string) => ({
    name: column,
    type: "integer" as const,
    format: "",
    database_type: "INTEGER",
    nullable: false,
    primary_key: column === "id",
    description: "",
    unit: "",
    hidden: false,
    values: [],
  });
  return {
    name,
    version: 0,
    kind: "table",
    description: "",
    row_count: 0,
    columns: ["id", ...Object.keys(refers)].map(column),
    foreign_keys: Object.entries(refers).map(([column, to]) => ({
      columns: [column],
      referred_table: to,
      referred_columns: ["id"],
    })),
  };
}

const SHOP = [
  table("lines", { order_id: "orders", product_id: "products" }),
  table("orders", { customer_id: "customers" }),
  table("products"),
  table("customers"),
  table("notes"),
];

/** Numbers from 0 to below 1 that are the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** Up to 80 tables with up to 12 foreign keys each: to any table, also to themselves, in circles, or to none. */
function anyTables(seed: number): Table[] {
  const next = numbers(seed);
  const count = 1 + Math.floor(next() * 80);
  const most = Math.floor(next() * 12);
  return Array.from({ length: count }, (_, index) => {
    const keys = Math.floor(next() * (most + 1));
    const refers = Array.from({ length: keys }, (_, key) => [
      `key_${key}`,
      `t${Math.floor(next() * (count + 3))}`,
    ]);
    return table(`t${index}`, Object.fromEntries(refers) as Keys);
  });
}

function overlap(one: Box, other: Box, width: number): boolean {
  const beside = one.x + width <= other.x || other.x + width <= one.x;
  return !beside && one.y < other.y + other.height && other.y < one.y + one.height;
}

/** Whether a line passes the box's column at the height of the box. */
function passes(path: string, box: Box, width: number): boolean {
  return [...path.matchAll(/ ([\d.-]+) ([\d.-]+)H([\d.-]+)/g)].some(([, from, y, to]) => {
    const [left, right] = [Math.min(Number(from), Number(to)), Math.max(Number(from), Number(to))];
    return left < box.x + width && right > box.x && Number(y) > box.y && Number(y) < box.y + box.height;
  });
}

test("a table stands right of those that it refers to, and one without relations nowhere", () => {
  const { boxes, lines } = pictureOf(SHOP);
  const x = Object.fromEntries(boxes.map((box) => [box.name, box.x]));
  expect(Object.keys(x).sort()).toEqual(["customers", "lines", "orders", "products"]);
  expect(x.customers).toBe(x.products);
  expect(x.orders).toBeGreaterThan(x.customers ?? NaN);
  expect(x.lines).toBeGreaterThan(x.orders ?? NaN);
  expect(lines.filter(({ path }) => path.includes("H")).map(({ relation }) => relation.to)).toEqual([
    "products",
  ]);
  expect(lines.map(({ relation }) => `${relation.from}>${relation.to}`)).toEqual([
    "lines>orders",
    "lines>products",
    "orders>customers",
  ]);
});

test("key columns are named, and those beyond eight counted", () => {
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`key_${index}`, "one"]));
  const box = pictureOf([table("one"), table("many", many)]).boxes.find(({ name }) => name === "many");
  expect(box?.keys.map((key) => key.name)).toEqual(["id", ...Object.keys(many).slice(0, 6)]);
  expect(box?.more).toBe(6);
});

test("the tables with most relations are chosen", () => {
  const spokes = Array.from({ length: 60 }, (_, index) => table(`spoke_${index}`, { hub: "hub" }));
  const { boxes } = pictureOf([...spokes, table("alone"), table("hub")]);
  expect(boxes).toHaveLength(MOST_TABLES);
  expect(boxes.map((box) => box.name)).toContain("hub");
});

test("without relations the picture is empty", () => {
  expect(pictureOf([table("one"), table("two", { gone: "elsewhere" })])).toEqual({
    boxes: [],
    lines: [],
    boxWidth: 112,
    width: 0,
    height: 0,
  });
});

test("no two boxes overlap, all are inside, and the order of the tables changes nothing", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const tables = anyTables(seed);
    const picture = pictureOf(tables);
    const { boxes, lines, boxWidth, width, height } = picture;
    expect(boxes.length).toBeLessThanOrEqual(MOST_TABLES);
    const pairs = boxes.flatMap((one, at) => boxes.slice(at + 1).map((other) => [one, other] as const));
    expect(
      pairs.filter(([one, other]) => overlap(one, other, boxWidth)),
      `seed ${seed}`,
    ).toEqual([]);
    for (const box of boxes) {
      expect(Math.min(box.x, box.y, width - box.x - boxWidth, height - box.y - box.height)).toBeGreaterThan(
        -0.001,
      );
    }
    const shown = new Set(boxes.map((box) => box.name));
    const between = relationsOf(tables).filter(({ from, to }) => shown.has(from) && shown.has(to));
    expect(lines).toHaveLength(between.length);
    expect(lines.every((line) => !line.path.includes("NaN"))).toBe(true);
    const behind = lines.filter(({ path }) => boxes.some((box) => passes(path, box, boxWidth)));
    expect(behind, `seed ${seed}`).toEqual([]);
    expect(pictureOf([...tables].reverse())).toEqual(picture);
  }
});
