import { Maximize, ZoomIn, ZoomOut } from "lucide";
import { type RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Table } from "../api/types";
import { Icon } from "../shared/icon";
import { onLinkClick } from "../shared/route";
import { relationTexts } from "./relation_texts";
import { type Box, HEAD_HEIGHT, KEY_HEIGHT, LONGEST_NAME, type Picture, pictureOf } from "./relations";
import { type Relation, relationsOf } from "./relations";
import "./relations.css";

interface Shown {
  /** Address of the database's page; a table is a part of it. */
  place: string;
  tables: Table[];
}

/** How the tables refer to each other, as a picture and as a list. */
export default function RelationsPicture({ place, tables }: Shown) {
  const picture = useMemo(() => pictureOf(tables), [tables]);
  const relations = useMemo(() => relationsOf(tables), [tables]);
  const { none, choose, part } = relationTexts;
  if (relations.length === 0) return <p class="quiet">{`${none} ${choose}`}</p>;
  return (
    <>
      <h2 class="visually-hidden">{relationTexts.title}</h2>
      <View place={place} picture={picture} />
      {picture.boxes.length < tables.length && (
        <p class="quiet">{part(picture.boxes.length, tables.length)}</p>
      )}
      <List place={place} relations={relations} />
    </>
  );
}

interface Sight {
  x: number;
  y: number;
  scale: number;
}

const MARGIN = 16;
const STEP = 60;
const ZOOM = 1.25;
/** A picture that would be smaller than this is not shown whole at first. */
const LEAST_SCALE = 0.4;
/** Movement of a pointer, in pixels, that is no click. */
const DRAG = 4;

/** The part of the picture that is in sight, moved by keys, pointer and buttons. */
function View({ place, picture }: { place: string; picture: Picture }) {
  const frame = useRef<SVGSVGElement>(null);
  const [sight, setSight] = useState<Sight>({ x: MARGIN, y: MARGIN, scale: 1 });
  const [near, setNear] = useState<string | null>(null);
  const { move, zoom, fit } = usePlaces(frame, picture, setSight);
  const drag = useDrag(move);
  useLayoutEffect(() => fit(LEAST_SCALE), [picture]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowLeft") move(STEP, 0);
    else if (event.key === "ArrowRight") move(-STEP, 0);
    else if (event.key === "ArrowUp") move(0, STEP);
    else if (event.key === "ArrowDown") move(0, -STEP);
    else if (event.key === "+" || event.key === "=") zoom(ZOOM);
    else if (event.key === "-") zoom(1 / ZOOM);
    else if (event.key === "0") fit(0);
    else return;
    event.preventDefault();
  };
  const { picture: label, zoomIn, zoomOut, whole } = relationTexts;
  const [wide, high] = [picture.width + 2 * MARGIN, picture.height + 2 * MARGIN];
  const size = { aspectRatio: `${wide} / ${high}`, maxHeight: `min(${high}px, 32rem, 70dvh)` };
  const buttons = [
    { icon: ZoomIn, name: zoomIn, onClick: () => zoom(ZOOM) },
    { icon: ZoomOut, name: zoomOut, onClick: () => zoom(1 / ZOOM) },
    { icon: Maximize, name: whole, onClick: () => fit(0) },
  ];
  return (
    <div class="relations">
      <div
        class="relations-view"
        style={size}
        role="group"
        aria-label={label}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <svg ref={frame} {...drag}>
          <defs>
            <clipPath id="table-width">
              <rect width={picture.boxWidth} height="1000" />
            </clipPath>
            <marker
              id="refers"
              viewBox="0 0 8 8"
              refX="8"
              refY="4"
              markerWidth="8"
              markerHeight="8"
              orient="auto"
            >
              <path class="relation-end" d="M0 0L8 4L0 8z" />
            </marker>
          </defs>
          <g transform={`translate(${sight.x} ${sight.y}) scale(${sight.scale})`}>
            <g aria-hidden="true">
              {picture.lines.map(({ relation, path }) => (
                <path
                  key={`${relation.from} ${relation.columns.join()} ${relation.to}`}
                  class={near === relation.from || near === relation.to ? "relation near" : "relation"}
                  d={path}
                  marker-end="url(#refers)"
                />
              ))}
            </g>
            {picture.boxes.map((box) => (
              <TableBox
                key={box.name}
                box={box}
                width={picture.boxWidth}
                place={place}
                onNear={(is) => setNear(is ? box.name : null)}
                onSeek={() => move(...wayInto(frame.current, box, picture.boxWidth, sight))}
              />
            ))}
          </g>
        </svg>
      </div>
      <div class="relations-buttons">
        {buttons.map(({ icon, name, onClick }) => (
          <button
            type="button"
            class="icon-button"
            key={name}
            aria-label={name}
            title={name}
            onClick={onClick}
          >
            <Icon of={icon} />
          </button>
        ))}
      </div>
    </div>
  );
}

function usePlaces(
  frame: RefObject<SVGSVGElement | null>,
  { width, height }: Picture,
  setSight: (change: (sight: Sight) => Sight) => void,
) {
  const move = (byX: number, byY: number) =>
    setSight(({ x, y, scale }) => ({ x: x + byX, y: y + byY, scale }));
  const zoom = (by: number) =>
    setSight((before) => {
      const [middleX, middleY] = [
        (frame.current?.clientWidth ?? 0) / 2,
        (frame.current?.clientHeight ?? 0) / 2,
      ];
      const scale = Math.min(2.5, Math.max(0.1, before.scale * by));
      const grown = scale / before.scale;
      return { x: middleX - (middleX - before.x) * grown, y: middleY - (middleY - before.y) * grown, scale };
    });
  /** Shows the whole picture, or its left where the whole would be smaller than the least scale. */
  const fit = (least: number) =>
    setSight(() => {
      const [seenX, seenY] = [frame.current?.clientWidth ?? 0, frame.current?.clientHeight ?? 0];
      const fitting = Math.min((seenX - 2 * MARGIN) / width, (seenY - 2 * MARGIN) / height, 1);
      const scale = Math.max(fitting, least, 0.05);
      const x = Math.max(MARGIN, (seenX - width * scale) / 2);
      return { x, y: (seenY - height * scale) / 2, scale };
    });
  return { move, zoom, fit };
}

/** How far the picture moves, so that a table with the focus is in sight. */
function wayInto(
  frame: SVGSVGElement | null,
  box: Box,
  width: number,
  { x, y, scale }: Sight,
): [number, number] {
  if (!frame) return [0, 0];
  const way = (start: number, size: number, seen: number) =>
    start < MARGIN ? MARGIN - start : Math.min(0, seen - MARGIN - start - size);
  return [
    way(x + box.x * scale, width * scale, frame.clientWidth),
    way(y + box.y * scale, box.height * scale, frame.clientHeight),
  ];
}

/** Moves by a pressed pointer. A pointer that hardly moved is a click on what is under it. */
function useDrag(move: (byX: number, byY: number) => void) {
  const last = useRef<{ x: number; y: number; moved: boolean } | null>(null);
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button === 0) last.current = { x: event.clientX, y: event.clientY, moved: false };
    },
    onPointerMove: (event: PointerEvent) => {
      const from = last.current;
      if (!from || event.buttons === 0) return;
      const [byX, byY] = [event.clientX - from.x, event.clientY - from.y];
      if (!from.moved && Math.hypot(byX, byY) < DRAG) return;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      last.current = { x: event.clientX, y: event.clientY, moved: true };
      move(byX, byY);
    },
    onClickCapture: (event: MouseEvent) => {
      // A click by a key has no detail.
      if (!last.current?.moved || event.detail === 0) return;
      event.preventDefault();
      event.stopPropagation();
      last.current = null;
    },
    onDragStart: (event: Event) => event.preventDefault(),
  };
}

interface ShownBox {
  box: Box;
  width: number;
  place: string;
  onNear: (is: boolean) => void;
  onSeek: () => void;
}

function TableBox({ box, width, place, onNear, onSeek }: ShownBox) {
  const { name, keys, more, x, y, height } = box;
  const shown = short(name, LONGEST_NAME);
  const seek = (event: FocusEvent) => {
    onNear(true);
    if ((event.currentTarget as Element).matches(":focus-visible")) onSeek();
  };
  const middle = (index: number) => HEAD_HEIGHT + (index + 0.5) * KEY_HEIGHT;
  return (
    <a
      class="relation-table"
      href={`${place}#${encodeURIComponent(name)}`}
      onClick={onLinkClick}
      onFocus={seek}
      onBlur={() => onNear(false)}
      onPointerEnter={() => onNear(true)}
      onPointerLeave={() => onNear(false)}
    >
      <g transform={`translate(${x} ${y})`} clip-path="url(#table-width)">
        <rect x="1" y="1" width={width - 2} height={height - 2} rx="7">
          {shown !== name && <title>{name}</title>}
        </rect>
        <text class="relation-name" x="12" y={HEAD_HEIGHT / 2}>
          {shown}
        </text>
        {keys.map((key, index) => (
          <text key={key.name} class="relation-key" x="12" y={middle(index)}>
            {`${short(key.name, LONGEST_NAME - (key.refers ? 2 : 0))}${key.refers ? " →" : ""}`}
          </text>
        ))}
        {more > 0 && (
          <text class="relation-key" x="12" y={middle(keys.length)}>
            {relationTexts.more(more)}
          </text>
        )}
      </g>
    </a>
  );
}

function short(name: string, most: number): string {
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

function List({ place, relations }: { place: string; relations: Relation[] }) {
  const link = (table: string) => (
    <a href={`${place}#${encodeURIComponent(table)}`} onClick={onLinkClick}>
      {table}
    </a>
  );
  return (
    <details class="relations-list">
      <summary>{relationTexts.asList(relations.length)}</summary>
      <ul>
        {relations.map(({ from, columns, to, referred }, index) => (
          <li key={index}>
            {link(from)} ({columns.join(", ")}) → {link(to)} ({referred.join(", ")})
          </li>
        ))}
      </ul>
    </details>
  );
}
