/** Where the boxes and lines of a picture of relations are. */
import type { Table } from "../api/types";

export const MOST_TABLES = 40;
export const MOST_KEYS = 8;
export const HEAD_HEIGHT = 32;
export const KEY_HEIGHT = 20;
/** Letters of a name that are shown. */
export const LONGEST_NAME = 22;
const LETTER = 7.4;
const LEAST_WIDTH = 112;
const BESIDE_NAME = 26;
const BETWEEN_COLUMNS = 72;
const BETWEEN_BOXES = 22;
/** Height of the place where a line passes a column. */
const LANE = 6;
const FOOT = 8;

/** A foreign key whose both tables are known. */
export interface Relation {
  from: string;
  columns: string[];
  to: string;
  referred: string[];
}

interface KeyColumn {
  name: string;
  primary: boolean;
  refers: boolean;
}

/** A table with its key columns; `more` of them have no line of their own. */
export interface Box {
  name: string;
  keys: KeyColumn[];
  more: number;
  x: number;
  y: number;
  height: number;
}

/** A relation with its path, which ends at the table that is referred to. */
export interface Line {
  relation: Relation;
  path: string;
}

/** All boxes have the same width. */
export interface Picture {
  boxes: Box[];
  lines: Line[];
  boxWidth: number;
  width: number;
  height: number;
}

/** Names of tables, and of lanes where lines pass. */
type Level = string[];

/** Something that stands in a column: a table's box, or a lane. */
interface Standing {
  x: number;
  y: number;
  height: number;
}

/** The way of a relation: its tables, with the lanes between them. */
interface Way {
  relation: Relation;
  stops: string[];
}

/** Every foreign key between the tables, by the name of the table that refers. */
export function relationsOf(tables: Table[]): Relation[] {
  const known = new Set(tables.map((table) => table.name));
  return [...tables].sort(byName).flatMap(({ name, foreign_keys }) =>
    foreign_keys
      .filter((key) => known.has(key.referred_table))
      .map((key) => ({
        from: name,
        columns: key.columns,
        to: key.referred_table,
        referred: key.referred_columns,
      })),
  );
}

/** The tables with most relations, in columns: a table stands right of those that it refers to, unless they
 * refer to each other. A line passes the columns between its tables beside their boxes. The order of the given
 * tables changes nothing. */
export function pictureOf(tables: Table[]): Picture {
  const chosen = mostRelated(tables);
  const relations = relationsOf(chosen);
  const sorted = ordered(levelsOf(chosen, relations), linksOf(relations));
  const { columns, ways } = withLanes(columnsOf(sorted, chosen.length), relations);
  const links = ways.flatMap(({ stops }) =>
    stops.slice(1).map((stop, at) => [stops[at] ?? stop, stop] as const),
  );
  const boxes = new Map(chosen.map((table) => [table.name, boxOf(table)]));
  const boxWidth = widthOf([...boxes.values()]);
  const { standing, height } = placed(ordered(columns, links), boxes, boxWidth);
  const found = [...boxes.values()].flatMap((box) => {
    const place = standing.get(box.name);
    return place ? [{ ...box, x: place.x, y: place.y }] : [];
  });
  const width = Math.max(0, columns.length * (boxWidth + BETWEEN_COLUMNS) - BETWEEN_COLUMNS);
  return { boxes: found, lines: linesOf(ways, found, standing, boxWidth), boxWidth, width, height };
}

/** Where everything stands: each column in the middle of the height. */
function placed(columns: Level[], boxes: Map<string, Box>, boxWidth: number) {
  const heightOf = (name: string) => boxes.get(name)?.height ?? LANE;
  const tall = columns.map((column) => column.reduce((sum, name) => sum + heightOf(name) + BETWEEN_BOXES, 0));
  const height = Math.max(0, ...tall.map((each) => each - BETWEEN_BOXES));
  const standing = new Map<string, Standing>();
  columns.forEach((column, index) => {
    let y = (height - (tall[index] ?? 0) + BETWEEN_BOXES) / 2;
    for (const name of column) {
      standing.set(name, { x: index * (boxWidth + BETWEEN_COLUMNS), y, height: heightOf(name) });
      y += heightOf(name) + BETWEEN_BOXES;
    }
  });
  return { standing, height };
}

/** The columns with a lane in each that a relation passes. */
function withLanes(columns: Level[], relations: Relation[]): { columns: Level[]; ways: Way[] } {
  const widened = columns.map((column) => [...column]);
  const at = new Map(columns.flatMap((column, index) => column.map((name) => [name, index] as const)));
  const ways = relations.map((relation, number) => {
    const [from, to] = [at.get(relation.from) ?? 0, at.get(relation.to) ?? 0];
    const by = Math.sign(to - from);
    const lanes = Array.from({ length: Math.max(0, Math.abs(to - from) - 1) }, (_, passed) => {
      const lane = `\n${number} ${passed}`; // no table has such a name
      widened[from + by * (passed + 1)]?.push(lane);
      return lane;
    });
    return { relation, stops: [relation.from, ...lanes, relation.to] };
  });
  return { columns: widened, ways };
}

function linksOf(relations: Relation[]): (readonly [string, string])[] {
  return relations.map(({ from, to }) => [from, to] as const);
}

function widthOf(boxes: Box[]): number {
  const letters = boxes.flatMap(({ name, keys }) => [
    name.length,
    ...keys.map((key) => key.name.length + (key.refers ? 2 : 0)),
  ]);
  const most = Math.min(LONGEST_NAME, Math.max(0, ...letters));
  return Math.max(LEAST_WIDTH, Math.ceil(most * LETTER + BESIDE_NAME));
}

function mostRelated(tables: Table[]): Table[] {
  const met = new Map<string, number>();
  for (const { from, to } of relationsOf(tables))
    for (const name of [from, to]) met.set(name, (met.get(name) ?? 0) + 1);
  const count = (table: Table) => met.get(table.name) ?? 0;
  return tables
    .filter((table) => count(table) > 0)
    .sort((one, other) => count(other) - count(one) || byName(one, other))
    .slice(0, MOST_TABLES);
}

function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
}

/** Level 0 refers to none; each other table is one beyond the last level that it refers to. */
function levelsOf(tables: Table[], relations: Relation[]): Level[] {
  const levels = new Map<string, number>();
  const entered = new Set<string>();
  const enter = (name: string): number => {
    const known = levels.get(name);
    if (known !== undefined) return known;
    entered.add(name);
    const next = relations
      .filter(({ from }) => from === name)
      // A table that is still entered closes a circle, which ends here.
      .filter(({ to }) => levels.has(to) || !entered.has(to))
      .map(({ to }) => enter(to) + 1);
    const level = Math.max(0, ...next);
    levels.set(name, level);
    return level;
  };
  const made: Level[] = [];
  for (const { name } of [...tables].sort(byName)) (made[enter(name)] ??= []).push(name);
  return made;
}

const SWEEPS = 4;

/** Puts what stands in each level near that which it is linked with. */
function ordered(levels: Level[], links: (readonly [string, string])[]): Level[] {
  const near = new Map<string, string[]>();
  for (const [from, to] of links) {
    near.set(from, [...(near.get(from) ?? []), to]);
    near.set(to, [...(near.get(to) ?? []), from]);
  }
  const places = new Map<string, number>();
  const place = (level: Level) =>
    level.forEach((name, index) => places.set(name, (index + 0.5) / level.length));
  const wanted = (name: string) => {
    const others = near.get(name) ?? [];
    return others.reduce((sum, other) => sum + (places.get(other) ?? 0), 0) / (others.length || 1);
  };
  let sorted = levels;
  sorted.forEach(place);
  for (let sweep = 0; sweep < SWEEPS; sweep++)
    sorted = sorted.map((level) => {
      const aims = new Map(level.map((name) => [name, wanted(name)]));
      const moved = [...level].sort((one, other) => (aims.get(one) ?? 0) - (aims.get(other) ?? 0));
      place(moved);
      return moved;
    });
  return sorted;
}

/** Levels as columns; a level of many tables becomes several columns of about the same height. */
function columnsOf(levels: Level[], count: number): Level[] {
  const most = Math.max(5, Math.ceil(Math.sqrt(count)));
  return levels.flatMap((level) => {
    const parts = Math.ceil(level.length / most);
    const size = Math.ceil(level.length / parts);
    return Array.from({ length: parts }, (_, part) => level.slice(part * size, (part + 1) * size));
  });
}

function boxOf({ name, columns, foreign_keys }: Table): Box {
  const refers = new Set(foreign_keys.flatMap((key) => key.columns));
  const all = columns
    .filter((column) => column.primary_key || refers.has(column.name))
    .map((column) => ({ name: column.name, primary: column.primary_key, refers: refers.has(column.name) }));
  const keys = all.length > MOST_KEYS ? all.slice(0, MOST_KEYS - 1) : all;
  const more = all.length - keys.length;
  const rows = keys.length + (more > 0 ? 1 : 0);
  return { name, keys, more, x: 0, y: 0, height: HEAD_HEIGHT + rows * KEY_HEIGHT + FOOT };
}

function linesOf(ways: Way[], boxes: Box[], standing: Map<string, Standing>, boxWidth: number): Line[] {
  const named = new Map(boxes.map((box) => [box.name, box]));
  return ways.flatMap(({ relation, stops }) => {
    const from = named.get(relation.from);
    const to = named.get(relation.to);
    const lanes = stops.slice(1, -1).flatMap((name) => standing.get(name) ?? []);
    return from && to ? [{ relation, path: pathOf(relation, from, to, lanes, boxWidth) }] : [];
  });
}

/** A curve from the column that refers, through the lanes, to the column that is referred to. */
function pathOf(
  { columns, referred }: Relation,
  from: Box,
  to: Box,
  lanes: Standing[],
  boxWidth: number,
): string {
  const startY = middleOf(from, columns[0]);
  // A column that refers to itself, as far as the box tells, ends at the top.
  const aimed = middleOf(to, referred[0]);
  const endY = from === to && aimed === startY ? from.y + FOOT : aimed;
  // The side where a line leaves, and the one where it ends: -1 is left, 1 is right.
  const leaves = to.x < from.x ? -1 : 1;
  const ends = to.x > from.x ? -1 : 1;
  const side = (x: number, of: number) => (of < 0 ? x : x + boxWidth);
  const bend = (BETWEEN_COLUMNS / 2) * leaves;
  let [x, y] = [side(from.x, leaves), startY];
  let path = `M${x} ${y}`;
  for (const lane of lanes) {
    const [enters, laneY] = [side(lane.x, -leaves), lane.y + LANE / 2];
    path += `C${x + bend} ${y} ${enters - bend} ${laneY} ${enters} ${laneY}H${side(lane.x, leaves)}`;
    [x, y] = [side(lane.x, leaves), laneY];
  }
  const endX = side(to.x, ends);
  return `${path}C${x + bend} ${y} ${endX + (ends * BETWEEN_COLUMNS) / 2} ${endY} ${endX} ${endY}`;
}

/** The middle of a column's line, or of the table's name if the column has none. */
function middleOf(box: Box, column: string | undefined): number {
  const index = box.keys.findIndex((key) => key.name === column);
  return index < 0 ? box.y + HEAD_HEIGHT / 2 : box.y + HEAD_HEIGHT + (index + 0.5) * KEY_HEIGHT;
}
