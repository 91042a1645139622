/** Where the boxes and lines of a picture of relations are. */
import type { Table } from "../api/types";

export const MOST_TABLES = 40;
export const MOST_KEYS = 8;
export const BOX_WIDTH = 200;
export const HEAD_HEIGHT = 32;
export const KEY_HEIGHT = 20;
const BETWEEN_COLUMNS = 90;
const BETWEEN_BOXES = 28;
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

export interface Picture {
  boxes: Box[];
  lines: Line[];
  width: number;
  height: number;
}

type Level = string[];

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
 * refer to each other. The order of the given tables changes nothing. */
export function pictureOf(tables: Table[]): Picture {
  const chosen = mostRelated(tables);
  const relations = relationsOf(chosen);
  const columns = columnsOf(ordered(levelsOf(chosen, relations), relations), chosen.length);
  const heights = new Map(chosen.map((table) => [table.name, boxOf(table)]));
  const tall = columns.map((column) => heightOf(column, heights));
  const height = Math.max(0, ...tall);
  const boxes = columns.flatMap((column, index) => {
    let y = (height - (tall[index] ?? 0)) / 2;
    return column.flatMap((name) => {
      const box = heights.get(name);
      if (!box) return [];
      const placed = { ...box, x: index * (BOX_WIDTH + BETWEEN_COLUMNS), y };
      y += box.height + BETWEEN_BOXES;
      return [placed];
    });
  });
  const width = columns.length * (BOX_WIDTH + BETWEEN_COLUMNS) - (columns.length && BETWEEN_COLUMNS);
  return { boxes, lines: linesOf(relations, boxes), width, height };
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

/** Puts the tables of each level near those that they have relations with. */
function ordered(levels: Level[], relations: Relation[]): Level[] {
  const near = new Map<string, string[]>();
  for (const { from, to } of relations) {
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

function heightOf(column: Level, boxes: Map<string, Box>): number {
  const heights = column.map((name) => boxes.get(name)?.height ?? 0);
  return heights.reduce((sum, each) => sum + each, 0) + (column.length - 1) * BETWEEN_BOXES;
}

function linesOf(relations: Relation[], boxes: Box[]): Line[] {
  const named = new Map(boxes.map((box) => [box.name, box]));
  return relations.flatMap((relation) => {
    const from = named.get(relation.from);
    const to = named.get(relation.to);
    return from && to ? [{ relation, path: pathOf(relation, from, to) }] : [];
  });
}

/** A curve from the column that refers to the column that is referred to. */
function pathOf({ columns, referred }: Relation, from: Box, to: Box): string {
  const startY = middleOf(from, columns[0]);
  // A column that refers to itself, as far as the box tells, ends at the top.
  const aimed = middleOf(to, referred[0]);
  const endY = from === to && aimed === startY ? from.y + FOOT : aimed;
  // The side where a line leaves, and the one where it ends: -1 is left, 1 is right.
  const leaves = to.x < from.x ? -1 : 1;
  const ends = to.x > from.x ? -1 : 1;
  const startX = leaves < 0 ? from.x : from.x + BOX_WIDTH;
  const endX = ends < 0 ? to.x : to.x + BOX_WIDTH;
  const bend = BETWEEN_COLUMNS / 2;
  return `M${startX} ${startY}C${startX + leaves * bend} ${startY} ${endX + ends * bend} ${endY} ${endX} ${endY}`;
}

/** The middle of a column's line, or of the table's name if the column has none. */
function middleOf(box: Box, column: string | undefined): number {
  const index = box.keys.findIndex((key) => key.name === column);
  return index < 0 ? box.y + HEAD_HEIGHT / 2 : box.y + HEAD_HEIGHT + (index + 0.5) * KEY_HEIGHT;
}
